// Runs the framework's program in this process: `node inner.mjs PROGRAM ARGUMENTS…`.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const { send } = createRequire(import.meta.url)('./tell.cjs')

process.argv.splice(1, 1)

// jest tells no reporter that it found no test file: it prints so, and exits with 1 as after failures.
let said = false
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write
  stream.write = function (chunk, ...rest) {
    said ||= /^No tests found|^No files found in|^No projects (matched|were found)/m.test(String(chunk))
    return write.call(this, chunk, ...rest)
  }
}
process.on('exit', () => {
  if (said && !globalThis.qaasBegan) send({ event: 'ended', none: 'the framework found no test to run' })
})

await import(pathToFileURL(process.argv[1]).href)
