// Patterns of files, as shells and Node itself read them, and what lies below a folder.
import { readdirSync, statSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'

export const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
export const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

// A pattern as a regular expression; `deep`: `**` stands for any number of folders (it does for Node, not for `sh`).
export function expression(pattern, deep) {
  let out = ''
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at)
    const list = /^\[(!|\^)?([^\]/]+)\]/.exec(rest)
    const choice = /^\{([^{}]*,[^{}]*)\}/.exec(rest)
    if (deep && rest.startsWith('**/')) {
      out += '(?:[^/]+/)*'
      at += 2
    } else if (deep && rest.startsWith('**')) {
      out += '.*'
      at += 1
    } else if (rest[0] === '*') {
      while (pattern[at + 1] === '*') at += 1
      out += '[^/]*'
    } else if (rest[0] === '?') {
      out += '[^/]'
    } else if (list) {
      out += `[${list[1] ? '^' : ''}${list[2].replaceAll('\\', '\\\\')}]`
      at += list[0].length - 1
    } else if (choice) {
      out += `(?:${choice[1].split(',').map((one) => expression(one, deep).source.slice(1, -1)).join('|')})`
      at += choice[0].length - 1
    } else {
      out += rest[0].replace(/[\\^$.|?*+()[\]{}]/, '\\$&')
    }
  }
  return new RegExp(`^${out}$`)
}

// Every file below a folder, in the order of names. Installed packages and hidden folders are nobody's tests.
export function filesBelow(folder) {
  const found = []
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (isFolder(path) && !entry.isSymbolicLink()) found.push(...filesBelow(path))
    else if (isFile(path)) found.push(path)
  }
  return found
}

// The files that a pattern means, seen from a folder.
export function matching(pattern, folder, deep) {
  const wanted = expression(pattern.replace(/^\.\//, ''), deep)
  const name = (path) => relative(folder, path).split(sep).join('/')
  return filesBelow(folder).filter((path) => wanted.test(name(path)))
}

// The words of files as `sh` hands them on: a pattern that matches nothing stays as it is.
export function expanded(words, folder) {
  return words.flatMap(({ text, pattern }) => {
    const found = pattern ? matching(text, folder, false) : []
    return found.length > 0 ? found : [text]
  })
}

const NODE_TESTS = /(^|\/)(test-[^/]*|[^/]*[._-]test|test)\.[cm]?[jt]s$|(^|\/)test\/(.*\/)?[^/]+\.[cm]?[jt]s$/

// The files below a folder that Node takes for tests: those of the project's own patterns, else of Node's.
export function nodeTestsBelow(folder, home, patterns) {
  const typescript = process.features.typescript
  const usual = (path) => NODE_TESTS.test(relative(home, path).split(sep).join('/')) && (typescript || !/\.[cm]?ts$/.test(path))
  const inside = filesBelow(folder)
  const named = patterns.flatMap((one) => matchingWord(one, home))
  const own = named.map((path) => resolve(home, path))
  return inside.filter((path) => (patterns.length > 0 ? own.includes(path) : usual(path)))
}

function matchingWord({ text, pattern }, home) {
  if (isFolder(resolve(home, text))) return filesBelow(resolve(home, text))
  return pattern || /[*?[{]/.test(text) ? matching(text, home, !pattern) : [text]
}
