import fc from 'fast-check'

export const json = (text: string) => JSON.stringify(text).slice(1, -1)
export const percent = encodeURIComponent
const form = (text: string) => new URLSearchParams({ x: text }).toString().slice(2)
const lowerHex = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (each) => each.toLowerCase())
const upperHex = (text: string) => text.replaceAll(/\\u[0-9a-f]{4}/g, (each) => `\\u${each.slice(2).toUpperCase()}`)
const ascii = (text: string) =>
  json(text).replaceAll(/[^ -~]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
export const slashes = (text: string) => json(text).replaceAll('/', '\\/')
const units = (text: string, write: (code: number) => string) =>
  Array.from({ length: text.length }, (_, index) => write(text.charCodeAt(index))).join('')
export const everyUnit = (text: string) => units(text, (code) => `\\u${code.toString(16).padStart(4, '0')}`)
const everyByte = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')
const everyEntity = (text: string, write: (code: number) => string) =>
  Array.from(text, (character) => `&#${write(character.codePointAt(0)!)};`).join('')
const named = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '/': '&#x2F;' }
const html = (text: string) => text.replaceAll(/[&<>"'/]/g, (each) => named[each as keyof typeof named])
/** The encoding of a URL path, which escapes few characters. Characters that would end the path are escaped first. */
export const path = (text: string) => new URL(`http://h/${text.replaceAll(/[?#\\/\t\n\r%]/g, percent)}!`).pathname

/** Encodings that a workflow, a server or a library may apply to a text. */
export const encodings: Readonly<Record<string, (text: string) => string>> = {
  none: (text) => text,
  json,
  'json in json': (text) => json(json(text)),
  'json, four levels deep': (text) => json(json(json(json(text)))),
  'json in ascii': ascii,
  'json in ascii, upper case': (text) => upperHex(ascii(text)),
  'json in ascii in json': (text) => json(ascii(text)),
  'json with escaped slashes': slashes,
  percent,
  'percent, lower case': (text) => lowerHex(percent(text)),
  'percent twice': (text) => percent(percent(text)),
  'percent three times': (text) => percent(percent(percent(text))),
  'percent six times': (text) => Array.from({ length: 6 }).reduce<string>((inner) => percent(inner), text),
  form,
  'json in percent': (text) => percent(json(text)),
  'json in json in form': (text) => form(json(json(text))),
  'percent in json': (text) => json(percent(text)),
  'every letter as a unicode escape': everyUnit,
  'every letter as a unicode escape, upper case': (text) => upperHex(everyUnit(text)),
  'every letter as a unicode escape, in json': (text) => json(everyUnit(text)),
  'every byte in percent': everyByte,
  'every byte in percent, upper case': (text) => everyByte(text).toUpperCase(),
  html,
  'json in html': (text) => html(json(text)),
  'html in json': (text) => json(html(text)),
  'every letter as an entity': (text) => everyEntity(text, String),
  'every letter as a hex entity': (text) => everyEntity(text, (code) => `x${code.toString(16)}`),
  'every letter as a hex entity, upper case': (text) =>
    everyEntity(text, (code) => `x${code.toString(16).toUpperCase()}`),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex, upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
}

/** Likely and unlikely values of variables. */
export const anySecret = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 60 }),
    fc.string({ unit: 'grapheme', minLength: 6, maxLength: 40 }),
    fc.string({
      unit: fc.constantFrom('"', '\\', '\n', "'", '/', '%', '+', ' ', 'é', '🙂', 'a', 'n', 'u', '0'),
      minLength: 6,
    }),
    fc.base64String({ minLength: 8, maxLength: 80 }),
    fc.stringMatching(/^sk_live_[A-Za-z0-9]{24}$/),
    fc.stringMatching(/^[0-9]{6,16}$/),
    fc.string({ unit: 'binary', minLength: 6, maxLength: 30 }).map((text) => text.toWellFormed()),
  )
  .filter((text) => text.trim().length >= 6)
