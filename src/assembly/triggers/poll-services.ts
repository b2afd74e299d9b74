import type { PollServices } from '../../http/services.ts'
import type { Base } from '../base.ts'
import type { Engine } from '../engine.ts'
import type { Triggers } from './triggers.ts'

type PollParts = Pick<Base, 'store' | 'clock'> & { engine: Engine; triggers: Triggers }

/** The polls of workflows, for the API. */
export function pollServicesOf({ store, clock, engine, triggers }: PollParts): PollServices {
  return {
    async list(workflowId) {
      // The latest results may be in memory only.
      await triggers.poller.flush()
      return await store.listPolls(workflowId)
    },
    async now(workflowId, blockId) {
      const isDue = await store.makePollDue(workflowId, blockId, clock.now())
      if (isDue) triggers.poller.changed(workflowId)
      return isDue
    },
    async tryOut({ document, blockId, workspaceId, signal }) {
      const opened = await engine.secrets.opened(document, workspaceId)
      const block = opened.blocks[blockId]
      if (block?.type !== 'poll_trigger' && block?.type !== 'rss_trigger') return undefined
      return await engine.pollCalls.tryOut({ ...block, params: block.params ?? {} }, workspaceId, signal)
    },
  }
}
