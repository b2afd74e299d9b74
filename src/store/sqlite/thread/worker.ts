import { setPriority } from 'node:os'
import type { Write } from '../../../domain/run/write.ts'
import { copyDatabase } from '../upkeep/copy.ts'
import { Executor } from './executor.ts'
import { packMembers } from './large-replies.ts'
import { freeWrite, unpack } from './large-writes.ts'
import { openId, plainErrorOf, type Reply, type Request } from './messages.ts'
import type { Arguments, OperationName } from './operations.ts'
import { Yielder } from './yielder.ts'

type Port = { onmessage: unknown; postMessage(reply: Reply, buffers?: ArrayBuffer[]): void }

/** The entry point of a storage thread: passes messages to one executor. In the executable it is a file of its own. */
function serve(port: Port): void {
  let executor: Executor | undefined
  const yielder = new Yielder()
  port.onmessage = ({ data }: MessageEvent<Request>) => {
    const id = 'id' in data ? data.id : openId
    try {
      const value = resultOf(data)
      const large = packMembers(value)
      if (large) port.postMessage({ id, value: large.rest, packed: large.packed }, large.buffers)
      else port.postMessage({ id, value })
    } catch (error) {
      port.postMessage({ id, error: plainErrorOf(error) })
    }
  }

  const resultOf = (request: Request): unknown => {
    if ('open' in request) {
      if (request.lowPriority) lowerPriority()
      const options = request.lowPriority ? { ...request.open, yieldIfDue: () => yielder.yieldIfDue() } : request.open
      executor = new Executor(options, { legacyJournal: request.legacyJournal })
      return executor.losses
    }
    if ('copy' in request) return copyDatabase(request.copy.from, request.copy.to)
    yielder.begin()
    if ('operation' in request) return executor!.run(request.operation, request.args as Arguments<OperationName>)
    if ('append' in request) return append(unpack(request.append))
    if ('retain' in request) return executor!.retain(request.retain)
    if ('summarise' in request) return executor!.summarise(request.summarise)
    return executor![request.control]()
  }

  /** A write that failed is kept: the executor may try it again. */
  const append = (write: Write) => {
    const refusals = executor!.run('append', [[write]])
    freeWrite(write)
    return refusals
  }
}

/** Lowers the priority of this thread. Only Linux supports that; elsewhere the call would affect the whole process. */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(0, 15)
}

serve(globalThis as unknown as Port)
