/** Another process has taken over this work, because this one had lost its claim. Its writes are refused. */
export class WorkLost extends Error {
  constructor() {
    super('Another process has taken over this run.')
  }
}
