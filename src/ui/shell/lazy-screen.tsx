import { type ComponentType, useEffect, useState } from 'react'
import { Loading } from '../parts/states.tsx'

/**
 * Shows a screen, once its file is there. It waits by itself: after `Suspense` has shown that something is on its way, it
 * holds what arrives back until 300 ms are over.
 */
export function LazyScreen<Params extends object>({ file, params }: { file: ScreenFile<Params>; params: Params }) {
  const [asked, setAsked] = useState<{ file: object; error?: { cause: unknown } }>()
  const Screen = file.screen
  useEffect(() => {
    // As it was drawn: the file may have come since.
    if (Screen) return
    file.load().then(
      () => setAsked({ file }),
      (cause: unknown) => setAsked({ file, error: { cause } }),
    )
  }, [file, Screen])
  // To the boundary around screens.
  if (asked?.file === file && asked.error) throw asked.error.cause
  return Screen ? <Screen params={params} /> : <Loading />
}

type Screen<Params> = ComponentType<{ params: Params }>

/** The file of a screen, which is loaded when it is first asked for. */
export class ScreenFile<Params extends object = object> {
  readonly #fetch: () => Promise<Screen<Params>>
  #screen: Screen<Params> | undefined

  constructor(fetch: () => Promise<Screen<Params>>) {
    this.#fetch = fetch
  }

  /** Undefined until it is there. */
  get screen(): Screen<Params> | undefined {
    return this.#screen
  }

  async load(): Promise<Screen<Params>> {
    this.#screen ??= await this.#fetch()
    return this.#screen
  }
}
