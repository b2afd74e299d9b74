import { afterAll, beforeAll } from 'bun:test'
import { PostgresServer, type StartOptions } from './postgres.ts'

/** Starts a server before the tests of a file and stops it after them. It can be used in tests and hooks. */
export function postgresServer(options: StartOptions = {}): () => PostgresServer {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start(options)
  }, startMsMax)
  afterAll(() => server[Symbol.asyncDispose](), startMsMax)
  return () => server
}

const startMsMax = 60_000
