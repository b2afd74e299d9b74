import { block, document } from '../support/make.ts'

export type Heard = { authorization: string | null; url: string; body: string }

/** A server that returns and records its requests. */
export function startEcho(): { port: number | undefined; heard: Heard[]; stop(): Promise<void> } {
  const heard: Heard[] = []
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => echoOf(request, heard) })
  return { port: server.port, heard, stop: () => server.stop(true) }
}

/** A workflow that calls the echo server with both secrets in its header, URL and body. */
export function echoing(
  port: number | undefined,
  path: string,
  last: { code: string } = { code: 'return <call.data>' },
) {
  return document({
    name: `Echo ${path}`,
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'note', type: 'string' }] }),
      block('call', 'api', {
        url: `http://127.0.0.1:${port}${path}/:phrase`,
        pathParams: { phrase: '{{PHRASE}}' },
        params: [{ key: 'key', value: '{{PHRASE}}' }],
        method: 'POST',
        headers: [{ key: 'Authorization', value: 'Bearer {{TOKEN}}' }],
        body: '{ "phrase": "{{PHRASE}}", "token": "{{TOKEN}}", "note": "<api.note>" }',
        retries: 0,
      }),
      block('last', 'function', last),
    ],
    edges: ['start > call', 'call > last'],
  })
}

/** Returns a request in many encodings. `/broken` returns it in an error. */
async function echoOf(request: Request, heard: Heard[]): Promise<Response> {
  const authorization = request.headers.get('authorization')
  const body = await request.text()
  heard.push({ authorization, url: request.url, body })
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/broken')) return new Response(`refused: ${authorization}, ${body}`, { status: 400 })
  const said = {
    authorization,
    body,
    url: request.url,
    [body]: [JSON.stringify({ authorization, inner: JSON.stringify({ body }) })],
    basic: `Basic ${Buffer.from(`user:${authorization}`).toString('base64')}`,
    token: [0, 1, 2].map((length) => Buffer.from('x'.repeat(length) + body).toString('base64url')),
    form: new URLSearchParams({ body, authorization: authorization ?? '' }).toString(),
  }
  return Response.json(said, { headers: { 'x-said': encodeURIComponent(body), 'x-auth': String(authorization) } })
}
