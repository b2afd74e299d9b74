export type RedisRequest = {
  /** The name of a credential of the kind `redis`. */
  credential: string
  command: string
  args: readonly unknown[]
  timeoutMs: number
}
