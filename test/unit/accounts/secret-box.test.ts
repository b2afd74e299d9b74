import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createDecipheriv, hkdfSync } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { deriveKey, keyPath, makeKeyFile } from '../../../src/accounts/key-file.ts'
import { openSecretBox, SecretBox, sealHeadBytes, settingDecrypts } from '../../../src/accounts/secret-box.ts'
import type { AppError } from '../../../src/domain/errors.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

describe('a secret box', () => {
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder[Symbol.dispose]())

  const secretKey = 'k'.repeat(32)
  const open = (given: { secretKey?: string; sealed?: readonly Uint8Array[] } = {}): Promise<SecretBox> =>
    openSecretBox({
      directory: folder.path,
      secretKey: given.secretKey,
      sealHeads: async () => (given.sealed ?? []).map((value) => value.subarray(0, sealHeadBytes)),
    })
  const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

  test('opens what it sealed, and the sealed value reveals nothing', async () => {
    const box = await open()
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string(), (text, context) => {
        const plain = text.toWellFormed()
        const sealed = box.seal(plain, context)
        expect(textOf(box.open(sealed, context))).toBe(plain)
        if (plain.length > 4) expect(Buffer.from(sealed).includes(plain)).toBe(false)
      }),
    )
    expect(box.open(box.seal(new Uint8Array(), 'x'), 'x')).toEqual(new Uint8Array())
  })

  test('opens what a key file sealed when the setting contains a line of that file, and seals with another key', async () => {
    const sealed = (await open()).seal('text', 'x')
    const [line = ''] = readFileSync(keyPath(folder.path), 'utf8').split('\n')
    rmSync(keyPath(folder.path))
    for (const setting of [line, `${secretKey},${line}`]) {
      const box = await open({ secretKey: setting, sealed: [sealed] })
      expect(box.openText(sealed, 'x')).toBe('text')
      expect(box.isCurrent(sealed)).toBe(false)
      expect(settingDecrypts(setting, [sealed.subarray(0, sealHeadBytes)])).toBe(true)
    }
    expect(settingDecrypts(secretKey, [sealed.subarray(0, sealHeadBytes)])).toBe(false)
    expect(settingDecrypts(undefined, [])).toBe(true)
  })

  test('opens a large value that was sealed in pieces, whatever its characters are', async () => {
    const box = await open()
    for (const shift of [0, 1]) {
      const text = `${'a'.repeat(262_143 + shift)}${'😀'.repeat(300_000)}\ud800${'é'.repeat(9)}`
      expect(textOf(box.open(box.seal(text, 'x'), 'x'))).toBe(text.toWellFormed())
      const bytes = Buffer.from(text)
      expect(Buffer.compare(box.open(box.seal(bytes, 'x'), 'x'), bytes)).toBe(0)
    }
  })

  test('can seal equal values alike, and different values or contexts never', async () => {
    const box = await open({ secretKey })
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (text, other, context) => {
        const sealed = box.sealAlike(text, context)
        expect(box.sealAlike(text, context)).toEqual(sealed)
        expect(box.openText(sealed, context)).toBe(text)
        const nonceOf = (bytes: Uint8Array) => bytes.subarray(sealHeadBytes, sealHeadBytes + 12).toHex()
        if (other !== text) expect(nonceOf(box.sealAlike(other, context))).not.toBe(nonceOf(sealed))
        expect(nonceOf(box.sealAlike(text, `${context}!`))).not.toBe(nonceOf(sealed))
      }),
    )
  })

  test('never seals the same way twice', async () => {
    const box = await open()
    const seals = new Set(Array.from({ length: 1_000 }, () => Buffer.from(box.seal('value', 'x')).toString('hex')))
    expect(seals.size).toBe(1_000)
  })

  test('rejects values that were changed, truncated or moved elsewhere', async () => {
    const box = await open()
    const sealed = box.seal('a value', 'environment/w/NAME')
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = sealed.slice()
      changed[at]! ^= 1
      expect(() => box.open(changed, 'environment/w/NAME')).toThrow(/damaged|another key/)
    }
    expect(() => box.open(sealed.subarray(0, -1), 'environment/w/NAME')).toThrow('damaged')
    expect(() => box.open(new Uint8Array(), 'environment/w/NAME')).toThrow('damaged')
    expect(() => box.open(sealed, 'environment/w/OTHER')).toThrow('environment/w/OTHER')
  })

  test('is AES-256-GCM with a key derived from the setting by HKDF', async () => {
    const box = await open({ secretKey })
    const sealed = box.seal('a value', 'context')
    const key = new Uint8Array(hkdfSync('sha256', secretKey, '', 'millrace secrets', 32))
    expect(deriveKey(secretKey)).toEqual(key)
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(5, 17))
    decipher.setAAD(Buffer.from('context'))
    decipher.setAuthTag(sealed.subarray(-16))
    const plain = Buffer.concat([decipher.update(sealed.subarray(17, -16)), decipher.final()])
    expect(plain.toString()).toBe('a value')
  })

  test('creates a key file once, readable only by its owner', async () => {
    const first = await open()
    const path = keyPath(folder.path)
    expect(readdirSync(folder.path)).toEqual([])
    const sealed = first.seal('value', 'x')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const text = readFileSync(path, 'utf8')
    const late = await open()
    expect(textOf(first.open(late.seal('value', 'x'), 'x'))).toBe('value')
    const second = await open({ sealed: [sealed] })
    expect(textOf(second.open(sealed, 'x'))).toBe('value')
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(readdirSync(folder.path)).toEqual(['millrace.key'])
  })

  test('creates no key file when the setting provides the key', async () => {
    ;(await open({ secretKey })).seal('value', 'x')
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('opens values sealed with the file before the setting was added', async () => {
    const sealed = (await open()).seal('value', 'x')
    const both = await open({ secretKey, sealed: [sealed] })
    expect(textOf(both.open(sealed, 'x'))).toBe('value')
    const anew = both.seal('value', 'x')
    rmSync(keyPath(folder.path))
    expect(textOf((await open({ secretKey, sealed: [anew] })).open(anew, 'x'))).toBe('value')
  })

  test('seals with the first line of the key file, and opens with every line', async () => {
    const path = keyPath(folder.path)
    const running = await open()
    const old = running.seal('value', 'x')
    const oldKey = readFileSync(path, 'utf8')
    const newKey = `${Buffer.alloc(32, 7).toString('base64')}\n`
    writeFileSync(path, newKey + oldKey)
    const rotated = await open({ sealed: [old] })
    expect(textOf(rotated.open(old, 'x'))).toBe('value')
    const anew = rotated.seal('value', 'x')
    // A process that started before the rotation reads the file again.
    expect(textOf(running.open(anew, 'x'))).toBe('value')
    writeFileSync(path, newKey)
    expect(textOf((await open({ sealed: [anew] })).open(anew, 'x'))).toBe('value')
  })

  test('seals with the first key of the setting, opens with every key, and refuses to open without one that is needed', async () => {
    const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(32)) as [string, string, string]
    const old = (await open({ secretKey: one })).seal('value', 'x')
    const all = await open({ secretKey: `${three}, ${two},${one}`, sealed: [old] })
    expect(all.openText(old, 'x')).toBe('value')
    expect([all.isCurrent(old), all.isCurrent(all.seal('value', 'x'))]).toEqual([false, true])
    const anew = all.seal('value', 'x')
    expect((await open({ secretKey: three, sealed: [anew] })).openText(anew, 'x')).toBe('value')
    expect(await rejectionOf(open({ secretKey: `${three},${two}`, sealed: [anew, old] }))).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringContaining('encrypted with another key'),
    })
    const purposes = (key: string) =>
      new SecretBox([deriveKey(key)], { directory: '', secretKey: key }).derive('p', false)
    expect(all.derive('p', false)).toEqual([three, two, one].flatMap(purposes))
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('refuses an empty or short key among several, and shows no part of a key', async () => {
    const good = 'good-key-'.repeat(4)
    for (const [text, problem] of [
      [`${good},`, 'contains 2 keys, separated by commas, and each needs at least 32 characters: key 2 is empty.'],
      [`,${good}`, 'key 1 is empty.'],
      [`${good},, ${good}`, 'key 2 is empty.'],
      [`tiny-secret,${good},other-secret`, 'key 1 has 11 characters, key 3 has 12 characters.'],
    ] as const) {
      const refused = (await rejectionOf(open({ secretKey: text }))) as AppError
      expect(refused.code).toBe('INVALID_INPUT')
      expect(refused.message).toContain(problem)
      expect(refused.message).not.toMatch(/good-key|tiny|other-secret/)
    }
  })

  test('reads a key of an earlier version that contains commas as one key while stored values need it', async () => {
    const comma = `short,${'c'.repeat(32)},x`
    const sealed = new SecretBox([deriveKey(comma)], { directory: folder.path, secretKey: comma }).seal('value', 'x')
    const before = await open({ secretKey: comma, sealed: [sealed] })
    expect(before.openText(sealed, 'x')).toBe('value')
    expect(before.isCurrent(before.seal('value', 'x'))).toBe(true)
    // It can be replaced like any other key.
    const replaced = await open({ secretKey: `${secretKey}, ${comma}`, sealed: [sealed] })
    expect(replaced.openText(sealed, 'x')).toBe('value')
    const anew = replaced.seal('value', 'x')
    expect((await open({ secretKey, sealed: [anew] })).openText(anew, 'x')).toBe('value')
    expect(await rejectionOf(open({ secretKey: comma }))).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('names the missing key when it is wrong or absent, and creates no new one', async () => {
    const sealed = (await open()).seal('value', 'x')
    const path = keyPath(folder.path)
    rmSync(path)
    expect(await rejectionOf(open({ sealed: [sealed] }))).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringMatching(/MILLRACE_SECRET_KEY.*millrace\.key/s),
    })
    expect(readdirSync(folder.path)).toEqual([])
    expect(await rejectionOf(open({ secretKey, sealed: [sealed] }))).toMatchObject({
      message: expect.stringMatching(/another key.*MILLRACE_SECRET_KEY.*millrace\.key/s),
    })
    makeKeyFile(folder.path)
    expect(await rejectionOf(open({ sealed: [sealed] }))).toMatchObject({ message: expect.stringContaining(path) })
  })

  test('rejects a key file that is damaged or unreadable', async () => {
    const path = keyPath(folder.path)
    for (const text of ['', '\n\n', 'short\n', `${Buffer.alloc(31).toString('base64')}\n`]) {
      writeFileSync(path, text)
      expect(await rejectionOf(open())).toMatchObject({ message: expect.stringContaining(`${path} is damaged`) })
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  })

  test('seals nothing when it cannot create its key file', () => {
    const directory = join(folder.path, 'nowhere')
    const box = new SecretBox([], { directory, secretKey: undefined })
    expect(() => box.seal('value', 'x')).toThrow(`The key file ${keyPath(directory)} cannot be created`)
  })
})
