// An S3 server of others, in a process of its own: prints its port when it is ready.
const S3Server = require('@20minutes/s3rver')
const [, , directory] = process.argv
const options = { port: 0, address: '127.0.0.1', silent: true, directory, vhostBuckets: false }
const server = new S3Server({ ...options, configureBuckets: [{ name: 'files', configs: [] }] })
server.run().then((address) => console.log(address?.port ?? server.httpServer.address().port))
