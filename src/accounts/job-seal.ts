import type { SecretBox } from './secret-box.ts'

/** Encrypts what is stored of an asynchronous run. A sealed value opens for the run it was sealed for only. */
export type JobSeal = {
  seal(text: string, executionId: string): Uint8Array
  open(sealed: Uint8Array, executionId: string): string
}

export function createJobSeal(box: Pick<SecretBox, 'seal' | 'openText'>): JobSeal {
  const contextOf = (executionId: string) => `job/${executionId}`
  return {
    seal: (text, executionId) => box.seal(text, contextOf(executionId)),
    open: (sealed, executionId) => box.openText(sealed, contextOf(executionId)),
  }
}
