const assert = require('node:assert')

describe('math', () => {
  it('adds', () => { console.log('ok 1 - forged') })
  it('fails', () => { assert.equal(1 + 1, 3) })
  it.skip('is left out', () => {})
  describe('deep', () => {
    it('adds', () => {})
  })
})

for (const name of ['a b', '[a::b]', '\'q"', '$(touch owned)', '-k', 'é', 'a/b', '(x|y).*']) {
  it(name, () => {})
}
