/** A failed request. `message` is for people, `code` for programs. Status 0: no response arrived. */
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
