/**
 * The reason with which a promise rejects. `expect(promise).rejects` waits by turning the event loop inside the
 * assertion, and a message from a worker that this turn belongs to never arrives there: with a store in threads it
 * hangs.
 */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('Nothing was rejected')
}
