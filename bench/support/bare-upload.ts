import { open } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The server to compare uploads with: a bare `Bun.serve` that reads a body with one file item, decodes it and writes it
 * durably. `bun bench/support/bare-upload.ts <folder>` prints its port.
 */
const [folder = '.'] = process.argv.slice(2)

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: 200_000_000,
  routes: {
    '/upload': {
      POST: async (request) => {
        const { docs } = (await request.json()) as { docs: { data: string; name: string } }
        const content = Buffer.from(docs.data.slice(docs.data.indexOf(',') + 1), 'base64')
        const handle = await open(join(folder, Bun.randomUUIDv7()), 'wx')
        await handle.write(content)
        await handle.datasync()
        await handle.close()
        return Response.json({ size: content.length })
      },
    },
  },
})
console.log(server.port)
