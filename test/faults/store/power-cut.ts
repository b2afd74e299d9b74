import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { tracerPath } from '../../support/programs.ts'

/**
 * The possible contents of a disk after a power cut, from a trace of a process's write calls. Everything flushed is on
 * disk. Of the rest, each page of 4 KB may be in the state after any of its writes, and only some sectors of the last
 * of them may have reached the disk: pages reach a disk in any order, sectors one by one.
 */
export type Call =
  | { kind: 'write'; file: string; at: number; bytes: Uint8Array }
  | { kind: 'truncate'; file: string; length: number }
  /** `since`: covers the calls that had ended when the flush began. */
  | { kind: 'flush'; file: string; since: number }
  | { kind: 'remove'; file: string }
  /** The standard output of the process. */
  | { kind: 'output'; text: string }

/** The arguments for strace that make it write a trace for `callsIn` to `file`. */
export function tracedBy(file: string): string[] {
  const calls = 'pwrite64,write,fsync,fdatasync,ftruncate,truncate,unlink'
  return [
    tracerPath(),
    '-f',
    '-qq',
    '-y',
    '-xx',
    '-s',
    '4194304',
    '-e',
    `trace=${calls}`,
    '-e',
    'signal=none',
    '-o',
    file,
  ]
}

/**
 * The calls that concern files of a folder, and the text written to `output`, in the order in which they began
 * (flushes: in which they ended).
 */
export async function callsIn(trace: string, folder: string, output: string): Promise<Call[]> {
  const calls: Call[] = []
  /** By thread: a call that has not returned yet, and the number of calls when it began. */
  const open = new Map<string, { head: string; since: number }>()
  const take = (head: string, since: number) => {
    const call = callOf(head, since, folder, output)
    if (call) calls.push(call)
  }
  for (const line of (await Bun.file(trace).text()).split('\n')) {
    const space = line.indexOf(' ')
    const thread = line.slice(0, space)
    const rest = line.slice(space).trimStart()
    if (rest.startsWith('<... ')) {
      const begun = open.get(thread)
      open.delete(thread)
      if (begun && /= -?\d/.test(rest.slice(-40)) && isFlush(begun.head)) take(begun.head, begun.since)
    } else if (rest.endsWith('<unfinished ...>')) {
      open.set(thread, { head: rest, since: calls.length })
      if (!isFlush(rest)) take(rest, calls.length)
    } else take(rest, calls.length)
  }
  return calls
}

function isFlush(head: string): boolean {
  return head.startsWith('fsync(') || head.startsWith('fdatasync(')
}

function callOf(head: string, since: number, folder: string, output: string): Call | undefined {
  const name = head.slice(0, head.indexOf('('))
  if (name === 'unlink' || name === 'truncate') {
    const end = head.indexOf('"', name.length + 2)
    const path = textOf(head.slice(name.length + 2, end))
    if (!path.startsWith(folder)) return undefined
    const file = basename(path)
    return name === 'unlink' ? { kind: 'remove', file } : { kind: 'truncate', file, length: numberAt(head, end + 1) }
  }
  const path = textOf(head.slice(head.indexOf('<') + 1, head.indexOf('>')))
  if (name === 'write' && path === output) return { kind: 'output', text: textOf(quoted(head)) }
  if (!path.startsWith(`${folder}/`) || path.endsWith('-shm')) return undefined
  const file = basename(path)
  if (isFlush(head)) return { kind: 'flush', file, since }
  if (name === 'ftruncate') return { kind: 'truncate', file, length: numberAt(head, head.indexOf('>') + 1) }
  if (name !== 'pwrite64') throw new Error(`A file was written in a way that is not traced: ${head.slice(0, 60)}`)
  const bytes = bytesOf(quoted(head))
  // The bytes are followed by their number and their position.
  const [, at] = head.slice(head.lastIndexOf('"')).match(/\d+/g)!
  return { kind: 'write', file, at: Number(at), bytes }
}

function numberAt(head: string, from: number): number {
  return Number(/\d+/.exec(head.slice(from))?.[0])
}

function quoted(head: string): string {
  return head.slice(head.indexOf('"') + 1, head.lastIndexOf('"'))
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.fromHex(hex.replaceAll('\\x', ''))
}

function textOf(hex: string): string {
  return new TextDecoder().decode(bytesOf(hex))
}

const pageBytes = 4_096
const sectorBytes = 512

/** Writes into `folder` what the disk may contain after a power cut before call `at`. `random` gives 0 ≤ n < 1. */
export function cutPower(calls: readonly Call[], at: number, folder: string, random: () => number): void {
  mkdirSync(folder, { recursive: true })
  const before = calls.slice(0, at)
  for (const file of new Set(before.flatMap((call) => (call.kind === 'output' ? [] : [call.file])))) {
    const content = contentOf(before, file, random)
    if (content) writeFileSync(join(folder, file), content)
  }
}

function contentOf(before: readonly Call[], file: string, random: () => number): Uint8Array | undefined {
  let flushedTo = 0
  for (const call of before)
    if (call.kind === 'flush' && call.file === file) flushedTo = Math.max(flushedTo, call.since)
  const disk = new Disk()
  /** How many of a page's later writes have reached the disk. */
  const reached = new Map<number, number>()
  const pending = new Map<number, number>()
  for (const [index, call] of before.entries()) {
    if (call.kind !== 'write' || call.file !== file || index < flushedTo) continue
    for (const page of pagesOf(call)) pending.set(page, (pending.get(page) ?? 0) + 1)
  }
  for (const [page, count] of pending) reached.set(page, Math.floor(random() * (count + 1)))
  for (const [index, call] of before.entries()) {
    if (call.kind === 'output' || call.kind === 'flush' || call.file !== file) continue
    // Truncating and removing files is journaled by the file system, so it takes effect at once.
    if (call.kind === 'remove') disk.remove()
    else if (call.kind === 'truncate') disk.truncate(call.length)
    else if (index < flushedTo) disk.write(call.at, call.bytes)
    else {
      for (const page of pagesOf(call)) {
        const left = reached.get(page)!
        reached.set(page, left - 1)
        if (left > 1) disk.write(...partOf(call, page))
        else if (left === 1) writeTorn(disk, ...partOf(call, page), random)
      }
    }
  }
  return disk.content
}

type Written = Extract<Call, { kind: 'write' }>

function pagesOf({ at, bytes }: Written): number[] {
  const first = Math.floor(at / pageBytes)
  const last = Math.floor((at + bytes.length - 1) / pageBytes)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function partOf({ at, bytes }: Written, page: number): [at: number, bytes: Uint8Array] {
  const from = Math.max(at, page * pageBytes)
  const to = Math.min(at + bytes.length, (page + 1) * pageBytes)
  return [from, bytes.subarray(from - at, to - at)]
}

function writeTorn(disk: Disk, at: number, bytes: Uint8Array, random: () => number): void {
  const isWhole = random() < 0.5
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, (Math.floor((at + from) / sectorBytes) + 1) * sectorBytes - at)
    if (isWhole || random() < 0.5) disk.write(at + from, bytes.subarray(from, to))
    from = to
  }
}

class Disk {
  #bytes = new Uint8Array(1_048_576)
  #length: number | undefined

  get content(): Uint8Array | undefined {
    return this.#length === undefined ? undefined : this.#bytes.subarray(0, this.#length)
  }

  write(at: number, bytes: Uint8Array): void {
    const end = at + bytes.length
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(end * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(bytes, at)
    this.#length = Math.max(this.#length ?? 0, end)
  }

  truncate(length: number): void {
    this.write(length, new Uint8Array())
    this.#bytes.fill(0, length)
    this.#length = length
  }

  remove(): void {
    this.#bytes.fill(0)
    this.#length = undefined
  }
}
