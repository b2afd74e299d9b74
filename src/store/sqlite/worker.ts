import { setPriority } from 'node:os'
import { Breather } from './breather.ts'
import { copyDatabase } from './copy.ts'
import { Executor } from './executor.ts'
import { decodeAttempts, decodeGroup } from './group.ts'
import { openId, plainErrorOf, type Reply, type Request, toldRecords } from './messages.ts'
import type { Arguments, OperationName } from './operations.ts'

type Port = { onmessage: unknown; postMessage(reply: Reply): void }

/** A storage thread: one executor behind messages. In the executable this file is an entry point of its own. */
function serve(port: Port): void {
  let executor: Executor | undefined
  const breather = new Breather()
  port.onmessage = ({ data }: MessageEvent<Request>) => {
    const id = idOf(data)
    try {
      if (typeof data === 'string') {
        const records = toldRecords(data)
        if (records) {
          executor!.hold(records)
          return
        }
        const refusals = executor!.run('append', [decodeGroup(data.slice(data.indexOf('\n') + 1))])
        port.postMessage(refusals ? { id, value: refusals } : id)
        return
      }
      port.postMessage({ id, value: answer(data) })
    } catch (error) {
      port.postMessage({ id, error: plainErrorOf(error) })
    }
  }

  const answer = (request: Exclude<Request, string>): unknown => {
    if ('open' in request) {
      if (request.yields) yieldToOthers()
      const options = request.yields ? { ...request.open, breathe: () => breather.breathe() } : request.open
      executor = new Executor(options, request.journal ? { journal: request.journal } : {})
      return undefined
    }
    if ('copy' in request) return copyDatabase(request.copy.from, request.copy.to)
    breather.begin()
    if ('operation' in request) return executor!.run(request.operation, request.args as Arguments<OperationName>)
    if ('beginJournal' in request) return executor!.beginJournal(request.beginJournal)
    if ('attempts' in request) return executor!.run('endAttempts', [decodeAttempts(request.attempts)])
    if ('retain' in request) return executor!.retain(request.retain)
    if ('summarise' in request) return executor!.summarise(request.summarise)
    return executor![request.control]()
  }
}

/** Of this thread alone, which Linux can do; elsewhere the priority is the whole process's. */
function yieldToOthers(): void {
  if (process.platform === 'linux') setPriority(0, 15)
}

function idOf(request: Request): number {
  if (typeof request === 'string') return Number(request.slice(0, request.indexOf('\n')))
  return 'open' in request || 'copy' in request ? openId : request.id
}

serve(globalThis as unknown as Port)
