"""Makes a model repository with all-MiniLM-L6-v2: make_repository.py MODEL_FOLDER REPOSITORY

MODEL_FOLDER has the model's model.safetensors and vocab.txt, which are linked to.
"""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main(model_folder, repository):
    name = repository / "minilm"
    version = name / "1"
    version.mkdir(parents=True)
    for file in (HERE / "minilm").iterdir():
        if file.is_file():
            shutil.copy(file, name)
    shutil.copy(HERE.parent / "exported" / "minilm.pt2", version)
    for file in ("model.safetensors", "vocab.txt"):
        (name / file).symlink_to(model_folder.resolve() / file)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
