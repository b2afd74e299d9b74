import { describe, expect, test } from 'bun:test'
import { type Command, UsageError } from '../../../src/cli/command.ts'
import { parseArguments } from '../../../src/cli/support/arguments.ts'

const command: Command = {
  summary: 'does things',
  arguments: [
    { name: 'FILE', description: 'a file' },
    { name: 'MORE', description: 'more files', optional: true, many: true },
  ],
  flags: { deploy: { description: 'deploy' }, plan: { value: 'P', description: 'the tier' } },
  json: true,
  examples: [],
  run: async () => 0,
}
const parse = (...words: string[]) => parseArguments(command, words, ['port', 'plan', 'data'])
const refusal = (...words: string[]) => {
  try {
    parse(...words)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  return 'not refused'
}

test('arguments, switches, flags and settings are told apart in any order', () => {
  expect(parse('--port', '80', 'a', '--deploy', 'b', '--plan=pro', '--json', 'c')).toEqual({
    arguments: ['a', 'b', 'c'],
    flags: { plan: 'pro' },
    lists: {},
    switches: new Set(['deploy', 'json']),
    settings: { port: '80' },
    json: true,
    help: false,
    configFile: undefined,
  })
})

test('a Boolean setting without a value is true', () => {
  const of = (...words: string[]) => parseArguments(command, ['a', ...words], ['no-auth', 'port'], ['no-auth']).settings
  expect(of('--no-auth')).toEqual({ 'no-auth': 'true' })
  expect(of('--no-auth', '--port', '80')).toEqual({ 'no-auth': 'true', port: '80' })
  expect(of('--no-auth', 'false')).toEqual({ 'no-auth': 'false' })
  expect(of('--no-auth=0')).toEqual({ 'no-auth': '0' })
})

test('--config names the settings file', () => {
  expect(parse('a', '--config', 'x.env').configFile).toBe('x.env')
})

test('everything after -- is an argument, and - is an argument anywhere', () => {
  expect(parse('-', '--', '--port', '-x').arguments).toEqual(['-', '--port', '-x'])
})

test('a value may begin with a dash or contain an equals sign', () => {
  expect(parse('a', '--data', '-x', '--plan=a=b')).toMatchObject({ settings: { data: '-x' }, flags: { plan: 'a=b' } })
})

test('--help needs no other arguments', () => {
  expect(parse('--help').help).toBe(true)
  expect(parse('-h').help).toBe(true)
})

describe('a wrong command line is rejected with its error', () => {
  test.each([
    [['a', '--prot', '80'], 'Unknown flag --prot. Did you mean "port"?'],
    [['a', '--nonsense=1'], 'Unknown flag --nonsense.'],
    [['a', '-p'], 'Unknown flag -p.'],
    [['a', '--port'], '--port needs a value: --port VALUE or --port=VALUE.'],
    [['a', '--deploy=yes'], '--deploy takes no value.'],
    [['--deploy'], 'FILE is missing: a file.'],
  ])('%j', (words, message) => {
    expect(refusal(...words)).toBe(message)
  })

  test('too many arguments', () => {
    const one: Command = { ...command, arguments: [{ name: 'ID', description: 'an id' }] }
    expect(() => parseArguments(one, ['a', 'b'], [])).toThrow('Too many arguments: "b" is not expected.')
  })
})
