import type { FormatAnswer, FormatJob } from './wire.ts'

/** The service's side of one worker. `Task`: the job that it does. */
export class FormatWorker<Task> {
  readonly #worker: Worker
  readonly #closed: Promise<void>
  /** Undefined while it has no work. */
  task: Task | undefined
  idleSinceMs = 0

  constructor(url: URL, { answered, broken }: FormatWorkerOwner) {
    this.#worker = new Worker(url)
    this.#worker.onmessage = ({ data }: MessageEvent<FormatAnswer>) => answered(data)
    this.#worker.onerror = (event) => {
      event.preventDefault()
      broken(event.message)
    }
    this.#closed = new Promise((resolve) => this.#worker.addEventListener('close', () => resolve()))
  }

  begin(task: Task, job: FormatJob): void {
    this.task = task
    this.#worker.postMessage(job)
  }

  /** Resolves when it has ended. */
  terminate(): Promise<void> {
    this.#worker.onmessage = null
    this.#worker.onerror = null
    this.#worker.terminate()
    return this.#closed
  }
}

export type FormatWorkerOwner = {
  answered(answer: FormatAnswer): void
  /** The worker has ended, or cannot start. */
  broken(message: string): void
}
