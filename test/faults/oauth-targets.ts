import { TestCluster } from '../support/cluster.ts'
import { temporaryFolder } from '../support/executable.ts'
import { init, type Serving, serve } from '../support/running-service.ts'

/** An installation whose processes can be killed: one process on SQLite, or three on PostgreSQL. */
export interface Target extends AsyncDisposable {
  readonly apiKey: string
  readonly workspaceId: string
  readonly processes: readonly Serving[]
  /** Kills a process with -9, and starts it again. */
  restart(at: number): Promise<void>
}

/** People sign in without an account, so that the script needs no browser. */
const environment = {
  ...{ MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_NO_AUTH: 'true', MILLRACE_RUNS_MAX: '1000' },
  ...{ MILLRACE_OUTBOUND_HOST_CONCURRENCY: '100' },
}

export async function singleTarget(): Promise<Target> {
  const folder = temporaryFolder()
  const { apiKey, workspaceId } = await init(folder.path)
  const processes = [await serve(folder.path, environment)]
  return {
    ...{ apiKey, workspaceId, processes },
    async restart() {
      await processes[0]!.kill('SIGKILL')
      processes[0] = await serve(folder.path, environment)
    },
    async [Symbol.asyncDispose]() {
      await processes[0]!.kill('SIGKILL')
      folder[Symbol.dispose]()
    },
  }
}

export async function clusterTarget(): Promise<Target> {
  const folder = temporaryFolder()
  const cluster = await TestCluster.create(folder.path, environment)
  const { apiKey, workspaceId } = cluster.installation
  const processes = [await cluster.start(), await cluster.start(), await cluster.start()]
  return {
    ...{ apiKey, workspaceId, processes },
    async restart(at) {
      await cluster.kill(processes[at]!)
      processes[at] = await cluster.start()
    },
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
