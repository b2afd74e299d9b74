import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { hostsText, parseAddress } from '../../../../src/store/postgres/address.ts'

const certificates = resolve(import.meta.dir, '../../../support/certificates')
const pair = (certificate: string, key: string) =>
  `sslcert=${certificates}/${certificate}&sslkey=${certificates}/${key}`

describe('the address of a PostgreSQL database', () => {
  test('has defaults like those of other clients', () => {
    expect(parseAddress('postgres://db')).toEqual({
      hosts: [{ hostname: 'db', port: 5432 }],
      database: 'postgres',
      username: 'postgres',
      password: '',
      tls: 'if possible',
      prepares: true,
    })
    expect(parseAddress('postgresql://anna@db')).toMatchObject({ username: 'anna', database: 'anna' })
  })

  test('may name several servers, and IPv6 addresses', () => {
    const address = parseAddress('postgres://u@one:1,[::1]:2,three/m?target_session_attrs=read-write')
    expect(address.hosts).toEqual([
      { hostname: 'one', port: 1 },
      { hostname: '::1', port: 2 },
      { hostname: 'three', port: 5432 },
    ])
    expect(hostsText(address)).toBe('one:1, ::1:2, three:5432')
  })

  test('keeps every user, password and database', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string({ minLength: 1 }), (user, password, database) => {
        fc.pre([user, password, database].every((text) => text.isWellFormed()))
        const [encodedUser, encodedPassword, encodedDatabase] = [user, password, database].map(encodeURIComponent)
        const address = parseAddress(`postgres://${encodedUser}:${encodedPassword}@db:5432/${encodedDatabase}`)
        expect(address).toMatchObject({ username: user, password, database })
      }),
    )
  })

  test('accepts a password with special characters that are not encoded', () => {
    expect(parseAddress('postgres://u:p@ss:word@db/m').password).toBe('p@ss:word')
  })

  test.each([
    ['disable', 'never'],
    ['prefer', 'if possible'],
    ['require', { rejectUnauthorized: false }],
    ['verify-full', { rejectUnauthorized: true }],
  ] as const)('with sslmode=%s demands that much of TLS', (mode, tls) => {
    expect(parseAddress(`postgres://db/m?sslmode=${mode}`).tls).toEqual(tls)
  })

  test.each([
    ['mysql://db/m', 'It has to begin with postgres://.'],
    ['postgres://db/m?sslmod=require', 'The parameter "sslmod" is not supported.'],
    ['postgres://db/m?sslmode=full', 'sslmode is "full". Allowed are: disable, allow, prefer,'],
    ['postgres://db/m?target_session_attrs=standby', 'Allowed are: any, read-write, primary.'],
    ['postgres://db/m?sslrootcert=/nowhere&sslmode=verify-full', 'The file of sslrootcert cannot be read'],
    ['postgres://db:port/m', '"db:port" is not the address of a server'],
    ['postgres://db:65536/m', '"db:65536" is not the address of a server'],
    [`postgres://db/m?sslmode=require&sslcert=${certificates}/client.pem`, 'sslcert and sslkey belong together'],
    [`postgres://db/m?${pair('client.pem', 'client.key')}`, 'sslmode has to be require, verify-ca or verify-full'],
    [`postgres://db/m?sslmode=require&${pair('service.pem', 'client.key')}`, 'The key of sslkey does not belong to'],
    [`postgres://db/m?sslmode=require&${pair('client.key', 'client.key')}`, 'sslcert does not contain a certificate'],
    [`postgres://db/m?sslmode=require&${pair('client.pem', 'README.md')}`, 'sslkey does not contain a key'],
    ['postgres://u:100%@db/m', 'Write "%25" for a percent sign.'],
  ])('%s is refused with the reason', (address, reason) => {
    expect(() => parseAddress(address)).toThrow(reason)
  })
})
