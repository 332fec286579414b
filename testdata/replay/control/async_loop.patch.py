# florc: restores = any
import asyncio
async def main():
    n = 0
    for epoch in range(3):
        for i in range(3):
            await asyncio.sleep(0.01)
            n += 1
        print(n)
+        print("PROBE", n)
asyncio.run(main())
