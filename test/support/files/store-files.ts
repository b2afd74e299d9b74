import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { createDiskStorage } from '../../../src/files/disk.ts'
import { UrlSigner } from '../../../src/files/signed-url.ts'
import { Spool } from '../../../src/files/spool.ts'

/** A process that stores files in a data folder, one after the other. Prints each key when its file is stored. */
const [data = '', ...keys] = process.argv.slice(2)

const root = join(data, 'files')
const spool = new Spool(join(root, '.incoming'), { isDurable: true })
const signer = new UrlSigner(
  () => [],
  () => '',
)
const storage = createDiskStorage({ root, signer, isDurable: true })
for (const key of keys) {
  await storage.put(key, await spool.hold(new TextEncoder().encode(key)), 'text/plain')
  writeSync(1, `${key}\n`)
}
