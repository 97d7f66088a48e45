// Tells of jest's tests as they end, one JSON object a line, on the channel (standard input).
const { writeSync } = require('node:fs')
const { relative, sep } = require('node:path')
const { stripVTControlCharacters } = require('node:util')

function send(event) {
  let data = Buffer.from(JSON.stringify(event) + '\n')
  while (data.length > 0) {
    try {
      data = data.subarray(writeSync(0, data))
    } catch (error) {
      if (error.code !== 'EAGAIN') return
    }
  }
}

const fileOf = (path) => {
  const inside = relative(process.cwd(), path).split(sep).join('/')
  return inside.startsWith('../') ? path : inside
}

const OUTCOMES = { passed: 'passed', failed: 'failed', pending: 'skipped', todo: 'skipped', skipped: 'skipped', disabled: 'skipped' }

module.exports = class {
  constructor(config) {
    this.pattern = config.testNamePattern && new RegExp(config.testNamePattern, 'i')
    this.early = new Map()
    this.seen = new Map()
  }

  unique(id) {
    const count = (this.seen.get(id) ?? 0) + 1
    this.seen.set(id, count)
    return count === 1 ? id : `${id}[${count}]`
  }

  finished(path, result) {
    // What the name pattern leaves out jest reports as skipped.
    if (result.status === 'pending' && this.pattern && !this.pattern.test(result.fullName)) return
    const nodeid = this.unique([fileOf(path), ...result.ancestorTitles, result.title].join('::'))
    const tries = (result.invocations ?? 1) - 1
    for (let attempt = 1; attempt <= tries; attempt++) {
      const message = result.retryReasons?.[attempt - 1]
      send({ event: 'reran', nodeid, attempt: { attempt, outcome: 'failed', message: message && stripVTControlCharacters(message) } })
    }
    const event = { event: 'finished', nodeid, outcome: OUTCOMES[result.status] ?? 'error' }
    if (typeof result.duration === 'number') event.duration_s = result.duration / 1000
    if (event.outcome === 'failed') {
      event.failures = result.failureMessages.map((message) => {
        const text = stripVTControlCharacters(message)
        return { phase: 'call', text, summary: text.split('\n')[0] }
      })
      event.message = event.failures.map((failure) => failure.text).join('\n')
    }
    send(event)
  }

  onTestCaseResult(test, result) {
    const key = JSON.stringify([test.path, result.ancestorTitles, result.title])
    this.early.set(key, (this.early.get(key) ?? 0) + 1)
    this.finished(test.path, result)
  }

  // A file's results all at once: those that did not come one by one, and what kept the file from running.
  onTestResult(test, result) {
    for (const one of result.testResults) {
      const key = JSON.stringify([test.path, one.ancestorTitles, one.title])
      const early = this.early.get(key) ?? 0
      if (early > 0) this.early.set(key, early - 1)
      else this.finished(test.path, one)
    }
    if (result.testExecError || (result.failureMessage && result.testResults.length === 0)) {
      const message = stripVTControlCharacters(result.failureMessage ?? String(result.testExecError.message))
      send({ event: 'collect_failed', nodeid: fileOf(test.path), message: message.trim() })
    }
  }

  onRunComplete() {
    send({ event: 'ended' })
  }
}
