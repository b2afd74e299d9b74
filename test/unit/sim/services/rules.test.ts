import { describe, expect, test } from 'bun:test'
import { BuiltIn } from '../../../../src/connectors/built-in.ts'
import { operationOf, ownParameters } from '../../../../src/domain/connector/connector.ts'
import { credentialKindNames } from '../../../../src/domain/credential/kinds.ts'
import { services } from '../../../../src/sim/services/services.ts'

const builtIn = new BuiltIn()

describe('the rules for the services of Sim', () => {
  test('cover every connector of the executable that has a block in Sim', async () => {
    const without = ['baserow', 'mattermost']
    const all = (await builtIn.list()).map(({ id }) => id)
    const covered = services.map(({ connector }) => connector).filter((id) => all.includes(id))
    expect(covered.toSorted()).toEqual(all.filter((id) => !without.includes(id)).toSorted())
  })

  test('name operations and parameters that the connectors have', async () => {
    for (const { connector: id, service, operations, usual } of services) {
      const connector = await builtIn.find(id)
      expect([service, Object.hasOwn(operations, usual)]).toEqual([service, true])
      for (const [name, rule] of Object.entries(operations)) {
        if (!('operation' in rule)) continue
        const operation = connector && operationOf(connector, rule.operation)
        if (!operation) throw new Error(`${id} has no operation ${rule.operation}`)
        const known = ownParameters(operation).map(([parameter]) => parameter)
        const unknown = Object.keys(rule.params ?? {}).filter((parameter) => !known.includes(parameter))
        expect([service, name, unknown]).toEqual([service, name, []])
        if (rule.maxItems) expect([service, name, operation.pagination]).toEqual([service, name, expect.anything()])
      }
    }
  })

  test('ask for credentials of a kind that the connectors offer', async () => {
    for (const { connector: id, credential } of services) {
      const connector = await builtIn.find(id)
      const offered = connector ? connector.credentials?.map(({ kind }) => kind) : credentialKindNames
      expect([id, offered]).toEqual([id, expect.arrayContaining([credential?.kind])])
    }
  })

  test('send requests to the hosts of their connectors only, so that the credential is sent', async () => {
    for (const { connector: id, operations } of services) {
      const connector = await builtIn.find(id)
      for (const [name, rule] of Object.entries(operations)) {
        if ('operation' in rule || typeof rule.url !== 'string') continue
        const { host } = new URL(rule.url.replaceAll(/[{}]/g, ''))
        if (connector) expect([id, name, host]).toEqual([id, name, new URL(connector.baseUrl).host])
        const known = [rule.path, rule.query, rule.body].flatMap((members) => Object.keys(members ?? {}))
        expect([id, name, rule.asks?.filter((asked) => !known.includes(asked)) ?? []]).toEqual([id, name, []])
        const inPath = Array.from(rule.url.matchAll(/\{([a-z_A-Z]+)\}/g), ([, part]) => part)
        expect([id, name, inPath.toSorted()]).toEqual([id, name, Object.keys(rule.path ?? {}).toSorted()])
      }
    }
  })

  test('translate outputs to outputs that the block has', () => {
    for (const { service, operations } of services) {
      for (const [name, { outputs = {} }] of Object.entries(operations)) {
        const roots = Object.values(outputs).map((path) => path.split(/[.[]/)[0])
        expect([service, name, roots.filter((root) => root !== 'data' && root !== 'status')]).toEqual([
          service,
          name,
          [],
        ])
      }
    }
  })
})
