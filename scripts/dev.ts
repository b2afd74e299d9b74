import { watch } from 'node:fs'
import { join, resolve } from 'node:path'

/** `bun run dev`: runs the service from source. Rebuilds the editor and restarts the service when a file changes. */
const root = resolve(import.meta.dir, '..')

function buildInterface(): number {
  return Bun.spawnSync([process.execPath, join(root, 'scripts/build-interface.ts')], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  }).exitCode
}

buildInterface()
let planned: Timer | undefined
const onChange = () => {
  clearTimeout(planned)
  planned = setTimeout(() => buildInterface() === 0 && console.error('The interface was rebuilt. Reload the page.'), 50)
}
for (const folder of ['src/ui', 'docs']) watch(join(root, folder), { recursive: true }, onChange)
const service = Bun.spawn([process.execPath, '--watch', join(root, 'src/main.ts'), 'serve', ...process.argv.slice(2)], {
  cwd: process.cwd(),
  stdio: ['inherit', 'inherit', 'inherit'],
})
process.on('SIGINT', () => service.kill('SIGINT'))
process.on('SIGTERM', () => service.kill('SIGTERM'))
process.exit(await service.exited)
