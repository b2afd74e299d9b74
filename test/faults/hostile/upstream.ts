import { upstreamBodies } from './large-values.ts'

/** A server whose responses are as large as an API block reads them: `/0`, `/1` and so on. Prints its port. */
const bodies = upstreamBodies().map(({ bytes }) => bytes)
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const body = bodies[Number(new URL(request.url).pathname.slice(1))]
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  },
})
console.log(server.port)
