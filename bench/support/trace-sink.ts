/** A collector that reads everything and keeps nothing. Prints its port. */
const sink = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.arrayBuffer()
    return Response.json({})
  },
})
console.log(sink.port)
