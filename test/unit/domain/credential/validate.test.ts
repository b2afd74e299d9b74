import { describe, expect, test } from 'bun:test'
import { credentialProblems, defaultHosts } from '../../../../src/domain/credential/validate.ts'

const server = 'https://mcp.example.com:8443/mcp'
const problems = (
  fields: Record<string, unknown>,
  { hosts = ['mcp.example.com:8443'], secrets = {} }: { hosts?: string[]; secrets?: Record<string, string> } = {},
) => credentialProblems({ name: 'tracker', kind: 'mcp_oauth', hosts, fields, secrets })

describe('a credential for an MCP server', () => {
  test('goes to the host of the server by default', () => {
    expect(defaultHosts({ kind: 'mcp_oauth', fields: { server } })).toEqual(['mcp.example.com:8443'])
    for (const other of ['{{SERVER}}', 'https://{{HOST}}/mcp', 'ftp://a.example', 'mcp', 7]) {
      expect(defaultHosts({ kind: 'mcp_oauth', fields: { server: other } })).toEqual([])
    }
    expect(defaultHosts({ kind: 'bearer', fields: { server } })).toEqual([])
  })

  test('must be allowed to go to the server', () => {
    expect(problems({ server })).toEqual([])
    expect(problems({ server }, { hosts: ['*.example.com:8443'] })).toEqual([])
    expect(problems({ server }, { hosts: ['api.example.com'] })).toMatchObject([
      { path: 'hosts', message: expect.stringContaining('add mcp.example.com:8443') },
    ])
    expect(problems({ server: 'http://mcp.example.com/' }, { hosts: ['mcp.example.com'] })).toMatchObject([
      { message: expect.stringContaining('add http://mcp.example.com') },
    ])
    expect(problems({ server: 'https://{{HOST}}/mcp' }, { hosts: ['api.example.com'] })).toEqual([])
  })

  test('names the server by a URL without a secret in it', () => {
    for (const wrong of ['mcp', 'ftp://mcp.example.com/', 'https://u:p@mcp.example.com:8443/', `${server}#top`]) {
      expect(problems({ server: wrong })).toMatchObject([{ path: 'fields.server' }])
    }
    expect(problems({})).toMatchObject([{ path: 'fields.server', message: 'Server is required.' }])
  })

  test('says which authorization server a client secret is for', () => {
    const secrets = { clientSecret: 's' }
    expect(problems({ server }, { secrets }).map(({ message }) => message)).toEqual([
      'A credential of kind mcp_oauth with clientSecret needs clientId.',
      'A credential of kind mcp_oauth with clientSecret needs issuer.',
    ])
    expect(problems({ server, clientId: 'c', issuer: 'https://as.example' }, { secrets })).toEqual([])
  })
})
