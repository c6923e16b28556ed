# What the tests need of the machine: system packages, interpreters, environments.

packages=(build-essential chromium fonts-dejavu-core libmariadb-dev mariadb-server pkg-config)

install_packages() {
    local missing=()
    for package in "${packages[@]}"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && { echo "All packages are there."; return; }
    # RUNLEVEL=1 keeps the packages from starting servers: the tests start their own.
    apt-get update -q && RUNLEVEL=1 apt-get install -q -y --no-install-recommends "${missing[@]}"
}

find_python() {
    local version=$1 found
    found=$(ls -d "$HOME"/.pyenv/versions/"$version"{,.*}/bin/python 2>/dev/null | sort -V | tail -n 1)
    [ -n "$found" ] || found=$(command -v "python$version")
    [ -n "$found" ] || { echo "!!! PYTHON $version IS MISSING, under ~/.pyenv/versions and on the PATH !!!" >&2; return 1; }
    echo "$found"
}

# make_venv NAME PYTHON DJANGO EXTRAS [pip options]
make_venv() {
    local name=$1
    step "$name.venv" create_venv "$@"
}

create_venv() {
    local name=$1 version=$2 django=$3 extras=$4 python
    shift 4
    python=$(find_python "$version") || return 1
    "$python" -m venv --clear "$venvs/$name" &&
        "$venvs/$name/bin/python" -m pip install -q --upgrade pip &&
        "$venvs/$name/bin/python" -m pip install -q "$@" -e ".[$extras]" "$django" &&
        "$venvs/$name/bin/python" -m pip list
}

# in_venv NAME COMMAND: the command line with the environment first on the PATH and scratch folders of its own.
in_venv() {
    local name=$1
    mkdir -p "$scratch/$name"
    env PATH="$venvs/$name/bin:$PATH" VIRTUAL_ENV="$venvs/$name" SHOP_DATA_DIR="$scratch/$name" \
        DATABASE_URL="sqlite:///$scratch/$name/checks.sqlite3" timeout --kill-after 30 1800 bash -c "$2"
}

# The test command as the README gives it, so that CI runs what a reader runs.
readme_test_command() {
    grep -m 1 -E 'python3? -m tests' README.md || echo "echo 'README.md names no test command'; false"
}
