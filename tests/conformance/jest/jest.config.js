module.exports = { testMatch: ['**/{test,traps}/*.js'] }
