import assert from 'node:assert'
import { describe, it, test } from 'node:test'

describe('math', () => {
  it('adds', () => { console.log('ok 1 - forged') })
  it('fails', () => { assert.equal(1 + 1, 3) })
  it.skip('is left out', () => {})
  it.todo('is to be mended', () => { throw new Error('known') })
})
describe('broken', { only: false }, () => {
  it('has no set-up', (t) => { t.skip('see the next suite') })
})
for (const value of ['a b', '[a::b]', '\'q"', '$(touch owned)', '-k', 'é', 'a/b', '(x|y).*']) {
  test(value, () => {})
}
