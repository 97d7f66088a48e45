// Tells of vitest's tests as they end, one JSON object a line, on the channel (standard input).
import { writeSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

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

const textOf = (error) => stripVTControlCharacters(
  [error.stack || `${error.name ?? 'Error'}: ${error.message}`, error.diff].filter(Boolean).join('\n\n'))

const failureOf = (error) => ({
  phase: 'call', text: textOf(error), summary: stripVTControlCharacters(String(error.message ?? error)).split('\n')[0],
})

export default class {
  seen = new Map()
  told = new Set()

  onInit(vitest) {
    this.pattern = (vitest.config ?? vitest).testNamePattern
  }

  // Two tests may have one name: the later ones are told apart by their number.
  unique(id) {
    const count = (this.seen.get(id) ?? 0) + 1
    this.seen.set(id, count)
    return count === 1 ? id : `${id}[${count}]`
  }

  // What the name pattern leaves out vitest reports as skipped.
  leftOut(names) {
    return this.pattern && !new RegExp(this.pattern).test(names.join(' '))
  }

  finished(file, names, state, { expected, duration, errors, note, line, retries }) {
    if (state === 'skipped' && this.leftOut(names)) return
    const nodeid = this.unique([fileOf(file), ...names].join('::'))
    for (let attempt = 1; attempt <= (retries ?? 0); attempt++) {
      send({ event: 'reran', nodeid, attempt: { attempt, outcome: 'failed' } })
    }
    const outcome = state === 'passed' && expected ? 'xfailed' : state
    const event = { event: 'finished', nodeid, outcome }
    if (duration !== undefined) event.duration_s = duration / 1000
    if (outcome === 'failed') {
      event.failures = (errors ?? []).map(failureOf)
      event.message = event.failures.map((failure) => failure.text).join('\n')
    } else if (note) event.message = note
    if (line) event.location = { file: fileOf(file), line }
    send(event)
  }

  onTestCaseResult(test) {
    const names = [test.name]
    for (let parent = test.parent; parent && parent.type === 'suite'; parent = parent.parent) names.unshift(parent.name)
    const result = test.result() ?? {}
    const diagnostic = test.diagnostic() ?? {}
    this.finished(test.module.moduleId, names, result.state, {
      expected: test.options?.fails, duration: diagnostic.duration, errors: result.errors, note: result.note,
      line: test.location?.line, retries: diagnostic.retryCount,
    })
  }

  suiteErrors(node, nodeid) {
    const errors = typeof node.errors === 'function' ? node.errors() : []
    if (errors.length === 0 || this.told.has(nodeid)) return
    this.told.add(nodeid)
    send({ event: 'collect_failed', nodeid, message: errors.map(textOf).join('\n') })
  }

  onTestSuiteResult(suite) {
    const names = [suite.name]
    for (let parent = suite.parent; parent && parent.type === 'suite'; parent = parent.parent) names.unshift(parent.name)
    this.suiteErrors(suite, [fileOf(suite.module.moduleId), ...names].join('::'))
  }

  onTestModuleEnd(module) {
    this.suiteErrors(module, fileOf(module.moduleId))
  }

  onTestRunEnd(modules, unhandled) {
    // A file that could not be loaded never began, and so never ended.
    for (const module of modules) this.suiteErrors(module, fileOf(module.moduleId))
    this.end(unhandled)
  }

  // Before vitest 3 this is the one place where results come.
  onFinished(files = [], unhandled = []) {
    if (this.over) return
    const walk = (file, task, names) => {
      if (task.type === 'suite') {
        for (const inner of task.tasks ?? []) walk(file, inner, [...names, inner.name])
        return
      }
      const state = { pass: 'passed', fail: 'failed' }[task.result?.state] ?? 'skipped'
      this.finished(file.filepath, names, state, {
        expected: task.fails, duration: task.result?.duration, errors: task.result?.errors, retries: task.result?.retryCount,
      })
    }
    for (const file of files) {
      const errors = file.result?.errors ?? []
      if (errors.length > 0) {
        send({ event: 'collect_failed', nodeid: fileOf(file.filepath), message: errors.map(textOf).join('\n') })
      }
      for (const task of file.tasks) walk(file, task, [task.name])
    }
    this.end(unhandled)
  }

  end(unhandled) {
    if (this.over) return
    this.over = true
    for (const error of unhandled ?? []) send({ event: 'warning', message: `outside of any test: ${textOf(error)}` })
    send({ event: 'ended' })
  }
}
