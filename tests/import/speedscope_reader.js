/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node speedscope_reader.js PACKAGE FILE: what speedscope's own importer makes of FILE, as JSON: a list of profiles, each with
 * its name, unit, total weight, frames ([name, file, line, inclusive, exclusive]) and call tree in preorder (the same behind a
 * depth). PACKAGE is the unpacked npm package.
 *
 * The package holds the importer only inside the bundle of the web page. The bundle is run as it is, with one statement more
 * that hands out its function of that name; what the page does last is to draw itself, which fails, as there is no document.
 */
'use strict'
const fs = require('fs')
const path = require('path')
const vm = require('vm')

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}

function bundle(directory) {
  const file = fs.readdirSync(directory).find(name => /^speedscope[-.].*\.js$/.test(name))
  return file ? fs.readFileSync(path.join(directory, file), 'utf8') : fail(`${directory} has no speedscope-*.js.`)
}

/* The functions of the bundle have new names in each release; the ones of the importer's module keep theirs. */
function importer(text) {
  const start = '(()=>{'
  const found = /async function ([\w$]+)\([\w$,]+\)\s*\{\s*return\s*\(await [\w$]+\)\.importProfileGroupFromText\(/.exec(text)
  if (!found || !text.includes(start)) fail('The importer is not where speedscope 1.25 has it; please try that release.')
  const page = {
    console: { log() {}, warn: console.error, error: console.error },
    TextDecoder, TextEncoder, URLSearchParams, URL, performance, setTimeout, clearTimeout, atob, btoa,
    location: { hash: '', protocol: 'file:', href: 'file:///' },
  }
  page.window = page.self = page
  const context = vm.createContext(page)
  try {
    vm.runInContext(text.replace(start, () => `${start}globalThis.importText=${found[1]};`), context)
  } catch (error) {
    if (!/document is not defined/.test(error.message)) throw error
  }
  return page.importText
}

function row(x) {
  const frame = x.frame || x
  return [frame.name, frame.file || '', frame.line || 0, x.getTotalWeight(), x.getSelfWeight()]
}

function describe(profile) {
  const frames = []
  const tree = []
  let depth = 0
  profile.forEachFrame(frame => frames.push(row(frame)))
  profile.forEachCallGrouped(node => tree.push([depth++, ...row(node)]), () => depth--)
  return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), frames, tree }
}

async function main([directory, file]) {
  const read = importer(bundle(path.join(directory, 'dist', 'release')))
  const group = await read(path.basename(file), fs.readFileSync(file, 'utf8'))
  if (!group) fail('speedscope does not know the format of the file.')
  process.stdout.write(JSON.stringify(group.profiles.map(describe)))
}

main(process.argv.slice(2)).catch(error => fail(String(error)))
