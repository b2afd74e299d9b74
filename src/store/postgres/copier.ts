import type { Connection } from './use.ts'

/**
 * Copies many rows in the text format of `COPY`. Pieces may end anywhere. The connection is busy until a copy ends:
 * read or write it to its end before the next call.
 */
export interface Copier {
  in(text: string, pieces: AsyncIterable<string>): Promise<void>
  out(text: string): AsyncIterable<Uint8Array>
}

export function copierOn(connection: Connection): Copier {
  return {
    async in(text, pieces) {
      const writer = connection.query(text).writable().getWriter()
      try {
        for await (const piece of pieces) await writer.write(piece)
        await writer.close()
      } catch (error) {
        await writer.abort(error).catch(() => undefined)
        throw error
      }
    },
    out: (text) => connection.query(text).readable(),
  }
}
