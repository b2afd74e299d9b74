import { estimateSize } from '../../domain/estimate-size.ts'
import { limitSettings } from '../../domain/limits.ts'
import { type BlockContext, BlockError, type FillEach } from '../../engine/block.ts'
import { type ApiCall, type ApiResult, callApi } from './call.ts'
import { batchItemsMax } from './parameters.ts'
import { failedResponse } from './response.ts'

/** The parameters of a block with a batch. `each`: the parameters of the request for one item. */
export type BatchParameters = { batch: { over?: unknown; concurrency?: number }; each: FillEach }

/** `status` and `headers`: of the response for the last item. `data`: a list; null for an item that failed. */
export type BatchResult = ApiResult & { failed: readonly FailedItem[] }

type FailedItem = { index: number; code: string; message: string; status: number | null }

/**
 * Sends the request of each item, some at a time. A failed item does not keep the others from being sent. Throws
 * `BlockError` when there is no list, or one that is too long.
 */
export async function callForEach({ batch, each }: BatchParameters, context: BlockContext): Promise<BatchResult> {
  const { blockBytesMax } = context.limits
  const items = itemsOf(batch.over)
  const data: unknown[] = items.map(() => null)
  const failed: FailedItem[] = []
  let last: ApiResult = noResult
  let bytes = 0
  let next = 0
  const memory = context.holdMemory()
  const work = async () => {
    for (let index = next++; index < items.length && !context.signal.aborted; index = next++) {
      const result = await callForItem(items[index], index, each, context)
      if (index === items.length - 1) last = result
      const { failure, status } = result
      if (failure) {
        failed.push({ index, code: failure.code, message: failure.message, status })
        continue
      }
      const size = estimateSize(result.data, blockBytesMax)
      memory.add(size)
      bytes += size
      if (bytes > blockBytesMax) next = items.length
      data[index] = result.data
    }
  }
  await Promise.all(Array.from({ length: Math.min(batch.concurrency ?? 5, items.length) }, work)).finally(() =>
    memory.end(),
  )
  if (bytes > blockBytesMax) throw tooLarge(blockBytesMax)
  failed.sort((one, other) => one.index - other.index)
  return { ...last, data, failed, failure: failureOf(failed, items.length) }
}

function itemsOf(over: unknown): readonly unknown[] {
  if (!Array.isArray(over))
    throw new BlockError('INVALID_PARAMETER', 'The batch needs a list, such as <start.customers>.')
  if (over.length <= batchItemsMax) return over as unknown[]
  const message = `The batch has ${over.length} items, but at most ${batchItemsMax} can be sent. Split the list.`
  throw new BlockError('INVALID_PARAMETER', message)
}

async function callForItem(item: unknown, index: number, each: FillEach, context: BlockContext): Promise<ApiResult> {
  try {
    return await callApi(each({ item, index }) as ApiCall, context, `item-${index}`)
  } catch (error) {
    if (!(error instanceof BlockError)) throw error
    return { ...failedResponse(error.code, error.message), attempts: [] }
  }
}

function failureOf(failed: readonly FailedItem[], items: number): ApiResult['failure'] {
  const [first] = failed
  if (!first) return null
  const { code, index } = first
  const message = `${failed.length} of ${items} items failed. Item ${index}: ${first.message}`
  return { code, message, isTemporary: false }
}

function tooLarge(max: number): BlockError {
  const message = `The responses of the batch take more than ${max} bytes (${limitSettings.blockBytesMax}). Split the list.`
  return new BlockError('RESPONSE_TOO_LARGE', message)
}

const noResult: ApiResult = { ...failedResponse('', ''), failure: null, attempts: [] }
