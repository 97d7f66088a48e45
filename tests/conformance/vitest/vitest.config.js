export default { test: { include: ['{test,traps}/*.js'] } }
