/**
 * An OpenTelemetry collector that misbehaves in another way at each request: it hangs, responds slowly, endlessly, with
 * garbage or with impossible numbers, refuses, or redirects.
 */
export class BadCollector {
  #count = 0

  respond(): Response | Promise<Response> {
    const behaviours = [
      () => new Promise<Response>(() => undefined),
      () => new Response(stream(0, 'x'.repeat(65_536))),
      () => new Response(stream(200, ' ')),
      () => new Response('\u0000'.repeat(100_000)),
      () => new Response(`${'['.repeat(60_000)}`, { headers: { 'content-type': 'application/json' } }),
      () => Response.json({ partialSuccess: { rejectedSpans: '-9e999', errorMessage: 'x'.repeat(60_000) } }),
      () => Response.json({ partialSuccess: { rejectedSpans: 1e308, rejectedDataPoints: {} } }),
      () => new Response(null, { status: 503, headers: { 'retry-after': '0' } }),
      () => new Response(null, { status: 429, headers: { 'retry-after': '99999999999999' } }),
      () => Response.redirect('http://169.254.169.254/', 307),
      () => new Response(null, { status: 401 }),
    ]
    this.#count += 1
    return behaviours[this.#count % behaviours.length]!()
  }
}

/** Never ends. */
function stream(everyMs: number, text: string): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(everyMs)
      controller.enqueue(text)
    },
  })
}
