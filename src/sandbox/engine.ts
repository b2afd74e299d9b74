import { EngineMemory, type Picture } from './memory.ts'

/**
 * One instance of the WebAssembly JavaScript engine (QuickJS): raw calls, its memory, and pictures of that memory.
 * Every value of the guest is a handle: the address of a box in that memory. Handles are not freed one by one, since
 * the whole memory is put back after a run.
 */
export class Engine {
  #calls: EngineCalls
  #memory: EngineMemory
  /** Where the engine leaves the length of a text. */
  #lengthAt: number
  #argumentsAt: number
  /** A place for short texts, so that passing one in takes no allocation. */
  #inputAt: number
  #undefined: Handle

  /** A new engine, or one that is what another was when its picture was taken: that saves the start. */
  constructor(module: WebAssembly.Module, host: EngineHost, from: { memoryBytesMax: number } | { picture: Picture }) {
    const instance = new WebAssembly.Instance(module, this.#imports(host))
    const calls = instance.exports as unknown as EngineCalls
    this.#calls = calls
    this.#memory = new EngineMemory(calls.memory, calls.pages)
    calls._initialize()
    // The first allocations: an engine made from a picture finds them where the one in the picture has them.
    this.#lengthAt = calls.wasm_malloc(4)
    this.#argumentsAt = calls.wasm_malloc(4 * argumentsMax)
    this.#inputAt = calls.wasm_malloc(inputBytes)
    this.#undefined = calls.qjs_get_undefined()
    if ('picture' in from) this.restore(from.picture)
    else {
      if (calls.qjs_init2(intrinsics) !== 0) throw new Error('The JavaScript engine does not start')
      calls.qjs_set_memory_limit(from.memoryBytesMax)
      calls.qjs_set_max_stack_size(stackBytesMax)
      calls.qjs_set_interrupt_handler(1)
    }
  }

  /** Bytes of memory in use, as the engine took them from its host. */
  get size(): number {
    return this.#memory.size
  }

  /** Evaluates a script; undefined when it throws or does not parse: see `exception`. */
  evaluate(source: string, name: string): Handle | undefined {
    const code = this.#write(source)
    return this.#checked(this.#calls.qjs_eval(code.at, code.length, this.#write(name).at, 0))
  }

  /** Calls a function with a few arguments; undefined when it throws: see `exception`. */
  call(callee: Handle, values: readonly Handle[]): Handle | undefined {
    for (let index = 0; index < values.length; index++) {
      this.#memory.writeUint32(this.#argumentsAt + 4 * index, values[index]!)
    }
    return this.#checked(this.#calls.qjs_call(callee, this.#undefined, values.length, this.#argumentsAt))
  }

  /** What was thrown last. */
  exception(): Handle {
    return this.#calls.qjs_get_exception()
  }

  /** Runs one waiting job: 1 when it ran, 0 when none waits, negative when it threw. */
  runJob(): number {
    return this.#calls.qjs_execute_pending_job()
  }

  newString(text: string): Handle {
    // One UTF-16 unit is three bytes of UTF-8 at most.
    if (text.length * 3 <= inputBytes) {
      return this.#calls.qjs_new_string(this.#inputAt, this.#memory.writeText(this.#inputAt, text, inputBytes))
    }
    const { at, length } = this.#write(text)
    const handle = this.#checked(this.#calls.qjs_new_string(at, length))
    this.#calls.wasm_free(at)
    if (handle === undefined) throw new EngineFull()
    return handle
  }

  newNumber(value: number): Handle {
    return this.#calls.qjs_new_number(value)
  }

  /** A function of the guest that calls the host, which knows it by the first letter of its name. */
  newHostFunction(name: string): Handle {
    const { at, length } = this.#write(name)
    return this.#calls.qjs_new_host_function(at, length, 1)
  }

  /** An element of an array of the guest. */
  item(array: Handle, index: number): Handle {
    return this.#calls.qjs_get_prop_uint32(array, index)
  }

  /** The text of a value, or undefined when there is no memory for the copy or making it throws. */
  textOf(value: Handle): string | undefined {
    const at = this.#calls.qjs_get_string_len(value, this.#lengthAt)
    return at === 0 ? undefined : this.#memory.readText(at, this.#memory.readUint32(this.#lengthAt))
  }

  promiseState(promise: Handle): PromiseState {
    return promiseStates[this.#calls.qjs_promise_state(promise)] ?? 'none'
  }

  /** What a promise was resolved or rejected with. */
  promiseResult(promise: Handle): Handle {
    return this.#calls.qjs_promise_result(promise)
  }

  picture(): Picture {
    return this.#memory.picture(this.#calls.__stack_pointer.value)
  }

  /** Makes the instance what it was, also after a trap. */
  restore(picture: Picture): void {
    this.#memory.restore(picture)
    this.#calls.__stack_pointer.value = picture.stackPointer
  }

  #checked(handle: Handle): Handle | undefined {
    return this.#calls.qjs_is_exception(handle) === 0 ? handle : undefined
  }

  /** Copies text into the engine, with the zero byte at its end that some calls want. */
  #write(text: string): { at: number; length: number } {
    const encoded = utf8Encoder.encode(text)
    const at = this.#calls.wasm_malloc(encoded.length + 1)
    if (at === 0) throw new EngineFull()
    this.#memory.write(at, encoded)
    return { at, length: encoded.length }
  }

  #imports(host: EngineHost): WebAssembly.Imports {
    return {
      env: {
        host_call: (nameAt: number, _length: number, _this: Handle, count: number, argumentsAt: number): Handle => {
          const text = () => (count === 0 ? undefined : this.textOf(this.#memory.readUint32(argumentsAt)))
          const answer = host.call(this.#memory.readByte(nameAt), text)
          return answer === undefined ? this.#calls.qjs_get_undefined() : this.newNumber(answer)
        },
        host_interrupt: () => (host.interrupted() ? 1 : 0),
        host_promise_rejection: () => {},
        // No handlers for modules are set: the engine itself refuses `import()`.
        host_module_normalize: () => 0,
        host_module_load: () => 0,
        // Local time is UTC, wherever the service runs.
        host_get_timezone_offset: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, at: number) => {
          this.#memory.writeUint64(at, BigInt(Math.floor(host.now())) * 1_000_000n)
          return 0
        },
        random_get: (at: number, length: number) => {
          for (let index = 0; index < length; index++) this.#memory.writeByte(at + index, host.random() * 256)
          return 0
        },
        fd_write: () => badFile,
        fd_close: () => badFile,
        fd_seek: () => badFile,
        fd_fdstat_get: () => badFile,
      },
    }
  }
}

/** What the engine may ask of its host: no more than this. */
export type EngineHost = {
  /** A host function was called; `name` is the first letter's code, `text` reads its argument. */
  call(name: number, text: () => string | undefined): number | undefined
  /** Asked every few thousand steps: true ends the code with an error that it cannot catch. */
  interrupted(): boolean
  /** Epoch milliseconds. */
  now(): number
  /** 0 ≤ n < 1. */
  random(): number
}

/** `none`: the value is no promise. */
export type PromiseState = 'pending' | 'fulfilled' | 'rejected' | 'none'

const promiseStates: readonly PromiseState[] = ['pending', 'fulfilled', 'rejected']

/** There is no room in the engine for what the host wants to put there. */
export class EngineFull extends Error {}

export type Handle = number

/** The calls of `quickjs.wasm` that are used here; a handle is an address. */
type EngineCalls = {
  memory: WebAssembly.Memory
  /** Added by `boundEngine`. */
  pages: WebAssembly.Global<'i32'>
  __stack_pointer: WebAssembly.Global<'i32'>
  _initialize(): void
  qjs_init2(intrinsics: number): number
  qjs_set_memory_limit(bytes: number): void
  qjs_set_max_stack_size(bytes: number): void
  qjs_set_interrupt_handler(on: number): void
  qjs_eval(codeAt: number, length: number, filenameAt: number, flags: number): Handle
  qjs_call(callee: Handle, self: Handle, count: number, argumentsAt: number): Handle
  qjs_is_exception(value: Handle): number
  qjs_get_exception(): Handle
  qjs_execute_pending_job(): number
  qjs_promise_state(promise: Handle): number
  qjs_promise_result(promise: Handle): Handle
  qjs_get_undefined(): Handle
  qjs_new_string(at: number, length: number): Handle
  qjs_new_number(value: number): Handle
  qjs_new_host_function(nameAt: number, length: number, parameters: number): Handle
  qjs_get_prop_uint32(array: Handle, index: number): Handle
  qjs_get_string_len(value: Handle, lengthAt: number): number
  wasm_malloc(bytes: number): number
  wasm_free(at: number): void
}

/**
 * The language but for `performance` (bit 10), whose time origin would be that of the picture. The bits: Date, eval,
 * RegExp, JSON, Proxy, Map and Set, typed arrays, Promise, BigInt, WeakRef, DOMException, atob and btoa.
 */
const intrinsics = 0b1_1011_1111_1111

/** Half of the megabyte that the linker gave to the stack: the most at which a deep recursion is an error, not a trap. */
const stackBytesMax = 512 * 1024
const argumentsMax = 8
const inputBytes = 16 * 1024
/** WASI's EBADF. */
const badFile = 8

const utf8Encoder = new TextEncoder()
