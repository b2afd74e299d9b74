/** A bare server that reads each body and responds. Prints its port. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { byteLength } = await request.arrayBuffer()
    return new Response(String(byteLength))
  },
})
console.log(server.port)
