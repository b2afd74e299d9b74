import { expect, test } from 'bun:test'
import { importSim } from '../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'

test('an import keeps no secret in placeholders, tools and settings without effect, but keeps variables', () => {
  const tool = (type: string, params: object) => ({ type, title: type, operation: 'scrape', params })
  const result = importSim(
    simFile([
      simBlock('slack', 'slack', { operation: 'send', botToken: 'leak-1', channel: 'C', text: 'x' }),
      simBlock('unknown', 'linkedin', { apiKey: 'leak-2', accessToken: '{{LINKEDIN_TOKEN}}', text: 'kept' }),
      simBlock('agent', 'agent', {
        model: 'gpt-4o',
        tools: JSON.stringify([tool('firecrawl', { apiKey: 'leak-3' }), tool('linkedin', { accessToken: 'leak-4' })]),
      }),
      simBlock(
        'hook',
        'github_v2',
        { webhookSecret: 'leak-5', selectedTriggerId: 'github_push' },
        { triggerMode: true },
      ),
      simBlock('rows', 'linkedin', {
        headers: [
          { id: 'a', cells: { Key: 'Authorization', Value: 'Bearer leak-7' } },
          { id: 'b', cells: { Key: 'X-Api-Key', Value: 'Key {{ROW_KEY}}' } },
        ],
      }),
      simBlock('database', 'postgresql', { password: 'leak-6', host: 'db.example', pageToken: 'page-2' }),
    ]),
  )
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  const text = JSON.stringify(result)
  expect(text).not.toContain('leak-')
  for (const kept of ['{{LINKEDIN_TOKEN}}', 'Key {{ROW_KEY}}', 'db.example', 'page-2']) expect(text).toContain(kept)
  expect(result.notes).toContain('"database": The file contains secrets in password. They were not kept.')
})
