import { expect, test } from 'bun:test'
import { join } from 'node:path'

const source = (path: string) => JSON.stringify(join(import.meta.dir, '../../../src', path))

test.each(['setTimeout(() => { throw bug })', 'Promise.reject(bug)'])(
  'an uncaught error ends the process and reveals no secret: %s',
  (breaking) => {
    const script = `
      const { Logger } = await import(${source('telemetry/logger.ts')})
      const { handleCrashes } = await import(${source('telemetry/crash-handler.ts')})
      const { createRedactor } = await import(${source('domain/redaction/redactor.ts')})
      const logger = new Logger({ level: 'error', access: 'off', now: () => 0 })
      const redactor = createRedactor([{ name: 'TOKEN', value: 'hunter' + 22 }])
      logger.redactWith((text) => redactor.redact(text))
      handleCrashes(logger)
      const bug = new Error('the token is hunter' + 22)
      ${breaking}
      setTimeout(() => console.log('still running'), 10_000)`
    const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script])
    const told = stderr.toString()
    expect({ exitCode, out: stdout.toString() }).toEqual({ exitCode: 1, out: '' })
    expect(told).not.toContain('hunter22')
    expect(JSON.parse(told)).toMatchObject({
      level: 'error',
      message: 'the service crashed',
      cause: { message: 'the token is {{TOKEN}}' },
    })
  },
)
