/**
 * The reason with which a promise rejects. `expect(promise).rejects` runs the event loop inside the assertion, where a
 * message from a worker may never arrive: with a store in threads it hangs.
 */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('Nothing was rejected')
}
