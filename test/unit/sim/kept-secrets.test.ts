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
      simBlock('database', 'mssql', { password: 'leak-6', host: 'db.example', pageToken: 'page-2' }),
    ]),
  )
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  const text = JSON.stringify(result)
  expect(text).not.toContain('leak-')
  for (const kept of ['{{LINKEDIN_TOKEN}}', 'Key {{ROW_KEY}}', 'db.example', 'page-2']) expect(text).toContain(kept)
  expect(result.notes).toContain('"database": The file contains secrets in password. The import did not keep them.')
})

test('an import recognises secrets by names, headers, addresses and their own form', () => {
  const secrets = {
    ...{ accessKey: 'leak-1', authorization: 'Basic leak-2', signingKey: 'leak-3', serviceRoleKey: 'leak-4' },
    ...{ sessionCookie: 'leak-5', jwt: 'leak-6', databaseUrl: 'postgres://leak-7@h/d', password: 1234567 },
    mcpHeaders: '{"Authorization":"Bearer leak-8","X-Auth-Key":"leak-9"}',
    rows: [{ key: 'X-Api-Key', value: 'leak-10' }],
    anything: 'Bearer leak-11-leak-11',
    server: 'https://user:leak-12@mcp.example/sse',
    hook: 'https://hooks.slack.com/services/T1/B1/leak-13',
  }
  const kept = {
    ...{ authMethod: 'bearer', credential: 'cred_1', key: 'kept-key', issueKey: 'KEPT-1', partitionKey: 'kept-part' },
    ...{ address: 'postgres://user:{{DB_PASSWORD}}@h/d', bearerToken: 'Bearer <start.kept>', apiKeyHint: 'kept-hint' },
  }
  const file = simFile(
    [simBlock('it', 'unheard_of', { ...secrets, ...kept }), simBlock('n', 'note', { content: 'x', apiKey: 'leak-14' })],
    [],
    { loops: { gone: { id: 'gone', nodes: [], token: 'leak-15' } } },
  )
  const result = importSim(file)
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  const text = JSON.stringify(result)
  expect(text.match(/leak-\d+|1234567/g)).toBeNull()
  for (const value of Object.values(kept)) expect(text).toContain(value)
  expect(text).toContain('https://user@mcp.example/sse')
  expect(result.notes).toContain('The file contains secrets in apiKey, token. The import did not keep them.')
})
