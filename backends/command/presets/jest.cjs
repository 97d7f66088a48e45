// Tells of jest's tests as they begin and end. Written for jest 29 and 30.
const { send, fileOf, numbering, folded, summaryOf, failureOf, printedBy, stripVTControlCharacters } = require('./tell.cjs')

const OUTCOMES = { passed: 'passed', failed: 'failed', pending: 'skipped', todo: 'skipped', skipped: 'skipped', disabled: 'skipped' }

// What jest says of a failure: the reason, what caused it, and the stack. jest 30 has causes behind the first stack,
// jest 29 has none.
function textOf(message, details) {
  const lines = folded(stripVTControlCharacters(String(message ?? '')).trimEnd()).split('\n')
  const causes = lines.flatMap((line) => /^\s*\[cause\]: (.*)/.exec(line)?.[1] ?? [])
  for (let cause = details?.cause, depth = 0; cause && depth < 5; cause = cause.cause, depth++) {
    causes.push(stripVTControlCharacters(String(cause.stack ?? cause.message ?? cause)).split('\n')[0])
  }
  const end = lines.findIndex((line) => /^\s*at /.test(line))
  const heads = end < 0 ? lines : lines.slice(0, end)
  const said = [...new Set(causes)].filter((cause) => !heads.some((line) => line.includes(cause)))
  return [...heads, ...said.map((cause) => `caused by: ${cause}`), ...(end < 0 ? [] : lines.slice(end))].join('\n')
}

// `● Test suite failed to run` stands above every reason.
const reasonOf = (text) => stripVTControlCharacters(text).replace(/^\s*● .*\n+/, '').replace(/^ {4}/gm, '').trim()

class Reporter {
  constructor(config) {
    globalThis.qaasBegan = false
    this.list = process.env.QAAS_LIST === '1'
    const keyword = process.env.QAAS_KEYWORD
    this.pattern = !this.list && keyword ? new RegExp(keyword, 'i') : undefined
    this.open = new Map()
    this.tries = new Map()
    this.counts = { passed: 0, failed: 0 }
  }

  onRunStart() {
    globalThis.qaasBegan = true
    const jest = require.resolve('jest/package.json', { paths: [process.argv[1], process.cwd()] })
    send({ event: 'environment', values: { jest: require(jest).version, node: process.version } })
  }

  file(test) {
    const { displayName } = test.context?.config ?? {}
    const project = typeof displayName === 'object' ? displayName?.name : displayName
    return project ? `${fileOf(test.path)}::|${project}|` : fileOf(test.path)
  }

  key(test, { ancestorTitles, title }) {
    return [this.file(test), ...ancestorTitles, title].join('::')
  }

  // A file is named as what runs until a test in it is known to.
  onTestFileStart(test) {
    send({ event: 'running', nodeid: this.file(test) })
  }

  // While a file runs: whether the next test of a name is a namesake or a further try is known at its end.
  onTestCaseStart(test, info) {
    const key = this.key(test, info)
    const open = this.open.get(key) ?? { number: 0, outcome: undefined }
    if (open.outcome !== 'failed') open.number += 1
    this.open.set(key, open)
    send({ event: 'over', nodeid: this.file(test) })
    if (!this.list) send({ event: 'started', nodeid: this.numbered(key, open.number) })
  }

  numbered(key, number) {
    return number > 1 ? `${key}[${number}]` : key
  }

  // No verdict yet: a test may be run again, and an error after its end makes it fail. The file's own results decide.
  onTestCaseResult(test, result) {
    if (this.list) return
    const key = this.key(test, result)
    const open = this.open.get(key) ?? { number: 1 }
    open.outcome = OUTCOMES[result.status] ?? 'error'
    const row = this.row(this.numbered(key, open.number), test, result)
    this.tries.set(key, [...(this.tries.get(key) ?? []), row?.message])
    if (row) send({ ...row, event: 'provisional' })
  }

  row(nodeid, test, result) {
    // What the name pattern leaves out jest reports as skipped.
    if (result.status === 'pending' && this.pattern && !this.pattern.test(result.fullName)) return undefined
    const row = { event: 'finished', nodeid, outcome: OUTCOMES[result.status] ?? 'error' }
    if (typeof result.duration === 'number') row.duration_s = result.duration / 1000
    if (result.location) row.location = { file: fileOf(test.path), line: result.location.line }
    if (row.outcome !== 'failed') return row
    const texts = result.failureMessages.map((message, at) => textOf(message, result.failureDetails?.[at]))
    row.failures = texts.map(failureOf)
    row.message = texts.join('\n\n')
    return row
  }

  onTestResult(test, result) {
    send({ event: 'over', nodeid: this.file(test) })
    const output = (result.console ?? []).map(({ message, type }) => `${type === 'log' ? '' : `${type}: `}${message}\n`)
    process.stdout.write(output.join(''))
    const unique = numbering()
    const failed = result.testResults.filter(({ status }) => status === 'failed').length
    const said = printedBy(fileOf(test.path), output, failed)
    for (const one of result.testResults) this.finished(unique(this.key(test, one)), test, one, said)
    if (result.testExecError || (result.failureMessage && result.testResults.length === 0)) {
      // Beside tests that have results, the file's text is that of all of them.
      const own = result.testResults.length === 0 ? result.failureMessage : undefined
      const message = folded(reasonOf(own || String(result.testExecError?.stack ?? result.testExecError?.message)))
      send({ event: 'collect_failed', nodeid: this.file(test), message, summary: summaryOf(message) })
    }
  }

  finished(nodeid, test, result, output) {
    if (this.list) {
      const location = result.location ? { file: fileOf(test.path), line: result.location.line } : undefined
      return send({ event: 'found', nodeid, location })
    }
    const row = this.row(nodeid, test, result)
    if (!row) return undefined
    for (let attempt = 1; attempt < (result.invocations ?? 1); attempt++) {
      const message = this.tries.get(this.key(test, result))?.[attempt - 1]
      send({ event: 'reran', nodeid, attempt: { attempt, outcome: 'failed', message } })
    }
    // jest tells what a file printed, not which of its tests did.
    if (row.outcome === 'failed' && output) row.output = output
    this.counts[row.outcome] = (this.counts[row.outcome] ?? 0) + 1
    return send(row)
  }

  onRunComplete(contexts, results) {
    const totals = this.list ? {} : { passed: results.numPassedTests, failed: results.numFailedTests + results.numRuntimeErrorTestSuites }
    const why = results.runExecError && reasonOf(String(results.runExecError.message ?? results.runExecError))
    send({ event: 'ended', ...totals, ...(why ? { broken: why } : {}) })
  }
}

module.exports = Reporter
