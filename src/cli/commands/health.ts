import { localAddress } from '../../domain/local-address.ts'
import type { Command } from '../command.ts'
import { Client } from '../support/client.ts'

export const health: Command = {
  summary: 'asks the service whether it is ready; exits with 1 if not',
  details: 'Without --url or MILLRACE_URL, it asks the service at MILLRACE_HOST and MILLRACE_PORT.',
  settings: ['url', 'host', 'port'],
  examples: ['health', 'health --url https://flows.example.com'],
  async run({ config, settings, terminal }) {
    const url = settings.sources.url === 'default' ? localAddress(config.host, config.port) : config.url
    const response = await new Client({ url, apiKey: undefined, timeoutMs: 5_000 }).send('GET', '/health/ready')
    terminal.say(
      response.status === 200 ? `${url} is ready.` : `${url} is not ready (${response.status}): ${response.text}`,
    )
    return response.status === 200 ? 0 : 1
  },
}
