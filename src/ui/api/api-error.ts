/** An answer that is not what was asked for. `message` is for people, `code` for programs; status 0: none arrived. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: readonly { path: string; message: string }[]

  constructor(status: number, code: string, message: string, details: ApiError['details'] = []) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.details = details
  }
}
