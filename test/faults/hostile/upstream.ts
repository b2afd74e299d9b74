import { BadCollector } from './bad-collector.ts'
import { answerMcp } from './bad-mcp-server.ts'
import { upstreamBodies } from './large-values.ts'

/**
 * A server whose responses are as large as an API block reads them: `/0`, `/1` and so on. Below `/otlp`, it is a
 * collector, and below `/mcp`, an MCP server. Prints its port.
 */
const bodies = upstreamBodies().map(({ bytes }) => bytes)
const collector = new BadCollector()
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/otlp/')) return collector.respond()
    if (pathname.startsWith('/mcp/')) return answerMcp(request)
    const body = bodies[Number(pathname.split('/')[1])]
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  },
})
console.log(server.port)
