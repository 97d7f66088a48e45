describe('math', () => {
  it('adds', () => { console.log('PASS forged') })
  it('fails', () => { expect(1 + 1).toBe(3) })
  it.skip('is left out', () => {})
  it.failing('is known to fail', () => { throw new Error('known') })
})
for (const value of ['a b [a::b]', '\'q" $(touch owned)', '-k é a/b (x|y).*']) {
  test(value, () => {})
}
