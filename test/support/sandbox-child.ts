/** Stands for `wardpost sandbox` where tests run without the executable. */
import { runSandboxChild } from '../../src/sandbox/child.ts'

runSandboxChild()
