// How each framework takes what is asked of it: which words it is started with.
import { relative } from 'node:path'
import { expanded, filesBelow, isFolder, nodeTestsBelow } from './files.mjs'

const VITEST_FLAGS = new Set([
  'run', 'watch', 'ui', 'open', 'coverage', 'globals', 'dom', 'isolate', 'silent', 'update', 'u', 'passWithNoTests', 'logHeapUsage',
  'allowOnly', 'dangerouslyIgnoreUnhandledErrors', 'fileParallelism', 'typecheck', 'hideSkippedTests', 'expandSnapshotDiff',
  'disableConsoleIntercept', 'includeTaskLocation', 'standalone', 'clearScreen', 'color', 'expand-snapshot-diff', 'w', 'r',
])
const JEST_FLAGS = new Set([
  'coverage', 'collectCoverage', 'runInBand', 'i', 'watch', 'watchAll', 'ci', 'silent', 'verbose', 'detectOpenHandles', 'forceExit', 'cache', 'no-cache',
  'passWithNoTests', 'onlyChanged', 'o', 'onlyFailures', 'f', 'colors', 'color', 'logHeapUsage', 'updateSnapshot', 'u', 'json', 'debug',
  'errorOnDeprecated', 'expand', 'e', 'findRelatedTests', 'runTestsByPath', 'injectGlobals', 'lastCommit', 'noStackTrace',
  'randomize', 'resetMocks', 'resetModules', 'restoreMocks', 'clearMocks', 'automock', 'showSeed', 'skipFilter',
  'testLocationInResults', 'useStderr', 'watchman', 'no-watchman', 'workerThreads', 'all', 'detectLeaks', 'bail', 'b', 'notify',
])
// How things are shown, and what waits for a person: that is ours to say.
const NOT_OURS = /^--?(watch|watchAll|w|ui|open|reporter|reporters|outputFile|json|verbose|run|standalone|notify|clearScreen|runTestsByPath|test-reporter|test-reporter-destination|test|passWithNoTests)(=|\.|$)/
// Of a part of the tests these say nothing.
const OF_THE_WHOLE = /^--(coverage|collectCoverage|shard|bail|changed|onlyChanged|experimental-test-coverage|test-coverage-)/

// A script's words as options (each with its value) and files.
function split(words, takesValue) {
  const options = []
  const files = []
  for (let at = 0; at < words.length; at++) {
    const { text } = words[at]
    if (!text.startsWith('-')) files.push(words[at])
    else if (text !== '--') {
      const value = !text.includes('=') && takesValue(text) && words[at + 1] && !words[at + 1].text.startsWith('-')
      options.push(value ? [text, words[++at].text] : [text])
    }
  }
  return { options, files }
}

const without = (flags) => (text) => {
  const name = text.replace(/^--?/, '')
  return !name.startsWith('no-') && !flags.has(name) && !/^(coverage|browser|typecheck)\./.test(name)
}

function kept(options, narrowed) {
  return options.filter(([name]) => !NOT_OURS.test(name) && !(narrowed && OF_THE_WHOLE.test(name))).flat()
}

const quoted = (text) => text.replace(/[\\^$.|?*+()[\]{}/-]/g, '\\$&').replaceAll('\uFFFD', '[^]')

// A pattern of exactly these names. Their parts are joined by a blank or, in later versions, by ` > `; a `::` may be part of
// a name, too. A namesake has a number that only qaas knows (`adds[2]`). What matches beyond them is dropped by whoever reads.
function patternOf(selected) {
  const joint = '(?:::| > | )'
  const one = ({ names }) => {
    const full = names.join('::')
    const base = /\[\d+\]$/.test(full) ? [full.replace(/\[\d+\]$/, '')] : []
    return [full, ...base].map((name) => name.split('::').map(quoted).join(joint)).join('|')
  }
  return `^(?:${selected.map(one).join('|')})$`
}

const distinct = (things) => [...new Set(things)]
// Matches no name: everything is collected, nothing runs.
const NEVER = '(?!)'

function nameOption(request, option) {
  if (request.list) return [`${option}=${NEVER}`]
  if (request.keyword !== undefined) return [`${option}=${request.keyword}`]
  const tests = request.selected.length > 0 && request.selected.every(({ names }) => names)
  return tests ? [`${option}=${patternOf(request.selected)}`] : []
}

function projects(request, option) {
  const names = request.selected.map(({ project }) => project)
  return names.length > 0 && names.every(Boolean) ? distinct(names).flatMap((name) => [option, name]) : []
}

const forReporter = (request) => ({
  ...(request.list ? { QAAS_LIST: '1' } : {}),
  ...(request.keyword === undefined ? {} : { QAAS_KEYWORD: request.keyword }),
})

function vitest(request) {
  const { script, selected, home, version } = request
  const words = /^(run|watch|dev|related)$/.test(script.words[0]?.text ?? '') ? script.words.slice(1) : script.words
  const { options, files } = split(words, without(VITEST_FLAGS))
  const narrowed = selected.length > 0
  // Older ones compare with paths as seen from their root.
  const spelled = (path) => (Number.parseInt(version, 10) < 3 ? relative(home, path) : path)
  const filters = selected.some(({ file }) => file === home) ? [] : distinct(selected.map(({ file }) => spelled(isFolder(file) ? `${file}/` : file)))
  return {
    env: forReporter(request),
    words: [
      'run', ...kept(options, narrowed), ...request.words, ...nameOption(request, '--testNamePattern'), ...projects(request, '--project'),
      ...(narrowed ? filters : expanded(files, home)),
    ],
  }
}

// jest takes a folder for a pattern of names, which may mean more or less than the folder. Its files are named instead;
// which of them are tests it decides as ever.
function jest(request) {
  const { script, selected, home } = request
  const { options, files } = split(script.words, without(JEST_FLAGS))
  const narrowed = selected.length > 0 && !selected.some(({ file }) => file === home)
  const paths = distinct(selected.flatMap(({ file }) => (isFolder(file) ? filesBelow(file) : [file])))
  if (narrowed && paths.length === 0) return { none: 'there is no file in the selected folders' }
  return {
    env: forReporter(request),
    words: [
      ...kept(options, selected.length > 0), ...request.words, ...nameOption(request, '--testNamePattern'), ...projects(request, '--selectProjects'),
      ...(narrowed ? ['--runTestsByPath', ...paths] : expanded(files, home)),
    ],
  }
}

// What later versions would take for a pattern is meant as the name of a file.
const literal = (path) => (Number.parseInt(process.versions.node, 10) > 20 ? path.replace(/[[\]{}*?!()]/g, '[$&]') : path)

// A pattern of names means different things to different versions of node: a file's tests all run, and those that were not
// asked for are dropped by whoever reads.
function nodeTest(request) {
  const { script, selected, home } = request
  const narrowed = selected.length > 0 && !selected.some(({ file }) => file === home)
  const options = split(script.flags.map((text) => ({ text })), (text) => /^(--(import|require|loader|experimental-loader|conditions|env-file|env-file-if-exists|test-(?!only|force|update|coverage-(lines|branches|functions))[\w-]+|experimental-test-isolation)|-r|-C)$/.test(text)).options
  const keyword = request.keyword === undefined ? [] : [`--test-name-pattern=${request.keyword}`]
  const below = ({ file }) => (isFolder(file) ? nodeTestsBelow(file, home, script.words) : [file])
  const files = narrowed ? distinct(selected.flatMap(below)).map(literal) : expanded(script.words, home)
  if (narrowed && files.length === 0) return { none: 'there is no test file of Node in the selected folders' }
  return { words: [...kept(options, selected.length > 0), '--test', ...request.words, ...keyword, ...files] }
}

export const FRAMEWORKS = {
  vitest: { command: vitest },
  jest: { command: jest },
  'node-test': { command: nodeTest, ownProgram: true },
}
