/** An event of a `text/event-stream`. `id`: undefined if it has none. `retryMs`: the delay that the stream asks for. */
export type StreamEvent = { type: string; data: string; id: string | undefined; retryMs: number | undefined }

/** Splits the bytes of an event stream into events, in linear time. Chunks may end anywhere. */
export class EventReader {
  readonly #decoder = new TextDecoder()
  /** The beginning of a line whose end has not arrived. */
  #pieces: string[] = []
  #endedWithReturn = false
  #data: string[] = []
  #type = ''
  #id: string | undefined
  #retryMs: number | undefined

  /** The events that the bytes complete. */
  read(bytes: Uint8Array): StreamEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true })
    // A line ends with CR, LF or both, and the two may arrive apart.
    const continues = this.#endedWithReturn && text.startsWith('\n')
    if (text !== '') this.#endedWithReturn = text.endsWith('\r')
    if (continues) text = text.slice(1)
    const lines = text.split(/\r\n|\n|\r/)
    const rest = lines.pop() ?? ''
    const events: StreamEvent[] = []
    for (const line of lines) {
      const whole = this.#pieces.length === 0 ? line : [...this.#pieces.splice(0), line].join('')
      const event = this.#take(whole)
      if (event) events.push(event)
    }
    if (rest !== '') this.#pieces.push(rest)
    return events
  }

  #take(line: string): StreamEvent | undefined {
    if (line === '') return this.#end()
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#type = value
    else if (field === 'id' && !value.includes('\0')) this.#id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value)
    return undefined
  }

  #end(): StreamEvent | undefined {
    const event = { type: this.#type || 'message', data: this.#data.join('\n'), id: this.#id, retryMs: this.#retryMs }
    const isEmpty = this.#data.length === 0 && event.id === undefined && event.retryMs === undefined
    this.#data = []
    this.#type = ''
    this.#id = undefined
    this.#retryMs = undefined
    return isEmpty ? undefined : event
  }
}
